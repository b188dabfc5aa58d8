"""The demonstration: three applications on one table, with what each access pattern sends, gives and costs.

Nothing in here prints. `scenes` runs the applications one after the other and gives what they showed; `singletable.cli`
puts it on the screen.
"""

from __future__ import annotations

from singletable.demo.divisions import SAMPLE, read_places
from singletable.demo.entities import app
from singletable.demo.program import scenes
from singletable.demo.reading import Cost, Pattern, Reading
from singletable.demo.scene import Progress, Scene

__all__ = ["SAMPLE", "Cost", "Pattern", "Progress", "Reading", "Scene", "app", "read_places", "scenes"]
