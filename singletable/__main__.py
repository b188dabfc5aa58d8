"""`python -m singletable`: the same as the command `singletable`."""

from __future__ import annotations

from singletable.cli import main

if __name__ == "__main__":
    main()
