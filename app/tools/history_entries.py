"""Windows, messages and hits as a model gets them: every text labelled and inside JSON. See context-windows.md, 7."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from app.domain.text import clean_text, one_line
from app.domain.windows import HistoryItem, SearchHit, Skipped, ToolUse, WindowInfo
from app.tools.history_arguments import MOST_ID_CHARS

_MOST_NAME_CHARS: Final = 64
_MOST_TOOLS: Final = 8
_LARGEST_SEQ: Final = 10**15
"""A number beyond is a foreign row's, and no name that can be read."""
_UNITS: Final = ("bytes", "KB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list: labels, and the one text of it that may be shortened.

    `focus` is what must be seen of the text as long as possible: position and length.
    """

    labels: Mapping[str, object]
    field: str
    text: str
    name: str
    """What is left of the labels where there is no room for them."""
    focus: tuple[int, int] = (0, 0)

    def shown(self, chars: int | None = None, *, is_bare: bool = False) -> dict[str, object]:
        """Return it with at most `chars` of its text, which says so if that is not all."""
        labels = {"item": self.name} if is_bare else self.labels
        if chars is None or chars >= len(self.text):
            return {**labels, self.field: self.text} if self.text else dict(labels)
        return {**labels, self.field: self._part(chars), "shortened": True}

    def _part(self, chars: int) -> str:
        start, length = self.focus
        begin = start - max(0, chars - length) // 2
        begin = max(0, min(begin, len(self.text) - chars))
        return self.text[begin : begin + chars]


def window_entry(window: WindowInfo, *, is_oldest: bool) -> Entry:
    """Return a window. The oldest is the first of all as far as a model may know, whatever began it."""
    labels = _without_blanks(
        {
            "window_id": one_line(clean_text(window.id), most_chars=MOST_ID_CHARS),
            "kind": "first" if is_oldest else window.kind,
            "opened": _time(window.opened),
            "closed": _time(window.closed),
            "is_current": window.is_active,
            "rows": window.rows,
            "tokens_at_close": window.tokens,
        }
    )
    return Entry(labels, "first_request", clean_text(window.title), str(labels["window_id"]))


def item_entry(item: HistoryItem, *, max_chars: int) -> Entry:
    """Return a message with its first words."""
    return Entry(
        {**item_labels(item), "chars": item.chars}, "preview", clean_text(item.preview)[:max_chars], _name(item)
    )


def hit_entry(hit: SearchHit) -> Entry:
    """Return a hit with what stands around it."""
    labels = {**item_labels(hit.item), "offset_chars": hit.offset_chars}
    return Entry(labels, "snippet", clean_text(hit.snippet), _name(hit.item), focus=(hit.start, hit.length))


def item_labels(item: HistoryItem) -> dict[str, object]:
    """Return who said it, when, where it is, and by what name it is read."""
    return _without_blanks(
        {
            "item": _name(item),
            "item_id": item.ref,
            # A foreign one may be too long for an argument.
            "window_id": item.window_id if len(item.window_id) <= MOST_ID_CHARS else "",
            "role": item.role,
            "kind": item.kind if item.kind != "message" else "",
            "when": _time(item.created),
            "model": one_line(clean_text(item.model), most_chars=_MOST_NAME_CHARS),
            "tools": [_tool(use) for use in item.tools[:_MOST_TOOLS]],
            "more_tools": max(0, len(item.tools) - _MOST_TOOLS),
            "cut_off": item.is_cut_off,
        }
    )


def skipped_words(skipped: Skipped) -> str:
    """Say what was not read; empty if there is nothing to say."""
    counts = (
        (skipped.oversized, "line over 1 MiB", "lines over 1 MiB"),
        (skipped.damaged, "damaged row", "damaged rows"),
        (skipped.blobs, "long text kept apart", "long texts kept apart"),
    )
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)


def size_words(size_bytes: int, of_bytes: int | None = None) -> str:
    """Return a size, or how much of a whole was read, as `48.2 of 910 MB`."""
    largest = size_bytes if of_bytes is None else of_bytes
    power = 0
    while largest >= 1000 * 1000**power and power < len(_UNITS) - 1:
        power += 1
    parts = [size_bytes] if of_bytes is None else [min(size_bytes, of_bytes), of_bytes]
    return " of ".join(_figure(part / 1000**power) for part in parts) + f" {_UNITS[power]}"


def _figure(value: float) -> str:
    return f"{value:.0f}" if value >= 100 or value.is_integer() else f"{value:.1f}"


def _without_blanks(labels: Mapping[str, object]) -> dict[str, object]:
    """Leave out what has nothing to say; a number of 0 among rows says something."""
    return {name: value for name, value in labels.items() if value or (name == "rows" and value == 0)}


def _name(item: HistoryItem) -> str:
    return f"#{item.seq}" if item.seq is not None and item.seq < _LARGEST_SEQ else item.ref


def _tool(use: ToolUse) -> str:
    name = one_line(clean_text(use.name), most_chars=_MOST_NAME_CHARS)
    return name if use.state == "done" else f"{name} ({one_line(clean_text(use.state), most_chars=20)})"


def _time(moment: datetime | None) -> str:
    if moment is None:
        return ""
    utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return utc.strftime("%Y-%m-%dT%H:%M:%SZ")
