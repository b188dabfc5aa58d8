"""Explore every scene and print how far it went: `python -m tests.interleavings`, or with words of names."""

from __future__ import annotations

import sys
import time

from singletable.testing import InterleavingFailed
from tests.interleavings.gapless import GAPLESS
from tests.interleavings.scenes import SCENES, explore


def main() -> int:
    """Print a line for each scene; 1 where one failed."""
    words = sys.argv[1:]
    failed = schedules = requests = 0
    for scene in (*SCENES, *GAPLESS):
        if not all(word in scene.name for word in words):
            continue
        begun = time.monotonic()
        try:
            report = explore(scene)
        except InterleavingFailed as error:
            failed += 1
            print(f"{scene.name}: FAILED\n{error}")
            continue
        schedules, requests = schedules + report.schedules, requests + report.requests
        print(f"{scene.name}: {report} ({time.monotonic() - begun:.1f} s)", flush=True)
    print(f"{schedules} schedules, {requests} requests, {failed} scenes failed")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
