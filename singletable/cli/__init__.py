"""The command `singletable`.

It needs the extra `cli` (click and rich). Without it the command is installed all the same, by the console script's
nature, so it then says how to get it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec

__all__ = ["main"]

LACKING = tuple(name for name in ("click", "rich") if find_spec(name) is None)


def _say_what_is_lacking() -> None:
    sys.exit(
        f"Error: the command line needs {' and '.join(LACKING)}, which the extra 'cli' brings: "
        'pip install "singletable[cli]" (with the demo: "singletable[cli,local]")'
    )


main: Callable[[], object]
"""Run the command line with the arguments of the process, and exit."""

if LACKING:
    main = _say_what_is_lacking
else:
    from singletable.cli.app import app

    main = app
