"""A chart of what was measured: bars by hand, as one small SVG that is legible on light and on dark pages.

The colours stand on the shapes for readers that know no style sheets; a style sheet turns them for dark pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from benchmarks.report import Row

__all__ = ["chart"]

WIDTH, NAMES, BARS = 760, 180, 460
LINE, THICK, TOP = 26, 16, 82
FORMS = (("16 threads", "16 threads of one process"), ("4 processes x 4 threads", "4 processes of 4 threads each"))
INK, PALE, PAPER = "#1f2328", "#59636e", "#ffffff"
FILLS = {"ours": "#0969da", "theirs": "#9aa4af"}
STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:13px}"
    ".title{font-size:15px;font-weight:600}.head{font-weight:600}"
    "@media (prefers-color-scheme:dark){"
    ".paper{fill:#15181c}.ink{fill:#e6edf3}.pale{fill:#9aa4af}.ours{fill:#58a6ff}.theirs{fill:#5a6470}}"
)


def chart(rows: Sequence[Row], round_trip: float) -> str:
    """Draw numbers per second and requests per number for the forms with sixteen writers in threads.

    `round_trip` is what was added to each request, in milliseconds.
    """
    title = f"Auto-increment: 16 writers at one group, {round_trip:g} ms from the engine"
    body: list[str] = []
    y = TOP
    for form, called in FORMS:
        found = [row for row in rows if row.form == form]
        if found:
            body += _panel(f"Numbers per second, {called}", found, lambda row: row.per_second, "{:.0f}", y)
            y += _height(found)
            body += _panel(f"Requests per number, {called}", found, lambda row: row.requests, "{:.2f}", y)
            y += _height(found)
    heads = (_text(20, 28, title, "title ink", INK), *_legend(20, 50))
    return "\n".join((*_opening(title, y), *heads, *body, "</svg>", ""))


def _opening(title: str, height: int) -> Iterator[str]:
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">'
    yield f"<title>{escape(title)}</title><style>{STYLE}</style>"
    yield f'<rect class="paper" width="{WIDTH}" height="{height}" rx="8" fill="{PAPER}"/>'


def _height(rows: Sequence[Row]) -> int:
    return 26 + LINE * len(rows) + 22


def _panel(head: str, rows: Sequence[Row], of: Callable[[Row], float], shown: str, y: int) -> Iterator[str]:
    """Give a headline and a bar for each row, the longest as long as there is room."""
    yield _text(20, y + 12, head, "head ink", INK)
    longest = max((*map(of, rows), 1e-9))
    for place, row in enumerate(rows):
        at = y + 26 + LINE * place
        length = max(2.0, BARS * of(row) / longest)
        kind = "theirs" if row.strategy.startswith("hand-written") else "ours"
        yield _text(NAMES, at + 12, row.strategy, "ink", INK, anchor="end")
        yield _bar(NAMES + 10, at, (length, THICK), kind)
        yield _text(NAMES + 16 + length, at + 12, shown.format(of(row)), "pale", PALE)


def _legend(x: int, y: int) -> Iterator[str]:
    for offset, kind, name in ((0, "ours", "singletable"), (110, "theirs", "hand-written boto3")):
        yield _bar(x + offset, y - 6, (12, 12), kind)
        yield _text(x + offset + 18, y + 4, name, "pale", PALE)


def _bar(x: float, y: float, size: tuple[float, float], kind: str) -> str:
    width, height = size
    place = f'x="{x:g}" y="{y:g}" width="{width:.1f}" height="{height:g}"'
    return f'<rect class="{kind}" {place} rx="2" fill="{FILLS[kind]}"/>'


def _text(x: float, y: float, words: str, kind: str, fill: str, *, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place} fill="{fill}" font-family="sans-serif" font-size="13">{escape(words)}</text>'
