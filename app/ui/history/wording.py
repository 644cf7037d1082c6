"""Windows, items and searches in words: for the eye, and for a screen reader."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from PySide6.QtCore import QCoreApplication, QLocale

from app.domain.windows import HistoryItem, SearchHit, Skipped, WindowInfo
from app.ui.chat.furniture import time_text
from app.ui.history.entries import Floor, HitGroup, Note, Value

ModelName = Callable[[str], str]
"""Returns the name of `provider/model` for people."""
_MOST_TOOLS: Final = 3


class _Unit(NamedTuple):
    name: str
    bytes: int


_UNITS: Final = (_Unit("GB", 10**9), _Unit("MB", 10**6), _Unit("kB", 10**3), _Unit("B", 1))


def progress_text(done: int, total: int) -> str:
    """Return `340 of 900 MB`."""
    at_most = max(done, total)
    unit = next((unit for unit in _UNITS if at_most >= unit.bytes), _UNITS[-1])
    numbers = [number_text(size // unit.bytes) for size in (done, at_most)]
    # The unit stays on the line of its number.
    return _tr("{done} of {total}").format(done=numbers[0], total=f"{numbers[1]}\u00a0{unit.name}")


def number_text(number: int) -> str:
    """Return a number as the locale writes it."""
    return QLocale().toString(number)


def kind_words(window: WindowInfo) -> str:
    """Return what a window is called beside its number."""
    if window.is_active:
        return _tr("now")
    match window.kind:
        case "first":
            return _tr("start")
        case "rollover":
            return _tr("rollover")
        case "reset":
            return _tr("started afresh")
        case "compaction":
            return _tr("summary")
        case "unknown":
            return _tr("unknown boundary")


def began_words(window: WindowInfo) -> str:
    """Return in a sentence how a window began."""
    match window.kind:
        case "first":
            return _tr("The chat began here.")
        case "rollover":
            return _tr("It began when the window before it was full.")
        case "reset":
            return _tr("It began when the model was to start afresh.")
        case "compaction":
            return _tr("It began with a summary of what was before.")
        case "unknown":
            return _tr("What began it could not be read, so the model started afresh.")


def window_name(window: WindowInfo) -> str:
    """Return `Window 3`."""
    return _tr("Window {number}").format(number=number_text(window.number))


def window_title(window: WindowInfo) -> str:
    """Return the first request of a window."""
    if window.title:
        return window.title
    if window.rows:
        return _tr("No question")
    return _tr("Nothing was said yet") if window.is_active else _tr("Nothing was said")


def window_figures(window: WindowInfo) -> str:
    """Return how much is in a window; empty if nothing is."""
    if not window.rows:
        return ""
    rows = _tr("1 entry") if window.rows == 1 else _tr("{count} entries").format(count=short_number(window.rows))
    return f"{rows} · {tokens_text(window.tokens)}" if window.tokens else rows


def window_opened(window: WindowInfo) -> str:
    """Return when a window was opened, if that is known."""
    return "" if window.opened is None else time_text(window.opened)


def window_times(window: WindowInfo) -> str:
    """Return when a window was opened, and closed."""
    if window.opened is None:
        return ""
    opened = time_text(window.opened)
    return opened if window.closed is None else f"{opened} – {time_text(window.closed)}"


def short_number(number: int) -> str:
    """Return a number, in thousands where nobody counts single ones."""
    if number < 10_000:
        return number_text(number)
    return _tr("{count}k").format(count=number_text(round(number / 1_000)))


def tokens_text(tokens: int) -> str:
    """Return a count of tokens, in thousands if it is large."""
    if tokens < 1_000:
        return _tr("1 token") if tokens == 1 else _tr("{count} tokens").format(count=number_text(tokens))
    return _tr("{count}k tokens").format(count=number_text(round(tokens / 1_000)))


def size_text(size: int) -> str:
    """Return a number of bytes in the largest unit that fits."""
    digits = 0 if size < 10_000_000 else 1
    return QLocale().formattedDataSize(size, digits, QLocale.DataSizeFormat.DataSizeSIFormat)


def speaker(item: HistoryItem, model_name: ModelName) -> str:
    """Return who said it."""
    if item.kind == "notice":
        return _tr("Notice")
    if item.role == "user":
        return _tr("You")
    return (model_name(item.model) if item.model else "") or _tr("Assistant")


def item_time(item: HistoryItem) -> str:
    """Return when it was said, if that is known."""
    return "" if item.created is None else time_text(item.created)


def marks(item: HistoryItem) -> list[str]:
    """Return what is out of the ordinary about an item."""
    found = []
    if item.is_rejected:
        found.append(_tr("not sent"))
    if item.is_cut_off:
        found.append(_tr("cut off"))
    return found


def tools_text(item: HistoryItem) -> str:
    """Return the names of the tools an item called, with the state of those that did not end well."""
    named = [
        tool.name if tool.state == "done" else f"{tool.name} ({_state_words(tool.state)})"
        for tool in item.tools[:_MOST_TOOLS]
    ]
    rest = len(item.tools) - _MOST_TOOLS
    if rest > 0:
        named.append(_tr("{count} more").format(count=number_text(rest)))
    return ", ".join(named)


def item_preview(item: HistoryItem) -> str:
    """Return the line that stands for an item's text."""
    return item.preview or (_tr("No text"))


def floor_text() -> str:
    """Return what the line of a manual reset says. It is true whichever way up the list is."""
    return _tr("The agent can't look beyond this line. You can.")


def floor_explained() -> str:
    """Return what a manual reset means."""
    return _tr(
        "The model started afresh here. Everything older stays on disk and in this list, for you alone: "
        "no model and none of its tools can read it."
    )


def skipped_words(skipped: Skipped, *, searched: bool) -> str:
    """Return what was passed over, in a sentence; empty if nothing was."""
    named = []
    if count := skipped.damaged:
        named.append(
            _tr("1 damaged entry") if count == 1 else _tr("{count} damaged entries").format(count=number_text(count))
        )
    if count := skipped.oversized:
        many = _tr("{count} entries that are too long to read").format(count=number_text(count))
        named.append(_tr("1 entry that is too long to read") if count == 1 else many)
    if count := skipped.blobs:
        many = _tr("{count} large texts that are kept apart").format(count=number_text(count))
        named.append(_tr("1 large text that is kept apart") if count == 1 else many)
    if not named:
        return ""
    said = _tr("Not searched: {what}.") if searched else _tr("Not listed: {what}.")
    return said.format(what=", ".join(named))


def spoken(value: Value, model_name: ModelName) -> str:
    """Return an entry as a screen reader says it."""
    match value:
        case WindowInfo():
            floor = _tr("beyond the reach of the agent") if value.is_above_floor else ""
            words = [window_name(value), kind_words(value), window_times(value), window_figures(value), floor]
            return ", ".join(filter(None, [*words, window_title(value)]))
        case Floor():
            return floor_text()
        case HitGroup():
            return f"{window_name(value.window)}, {kind_words(value.window)}, {hits_text(value.hits)}"
        case HistoryItem():
            return ", ".join(filter(None, _said_of(value, model_name))) + ": " + item_preview(value)
        case SearchHit():
            return ", ".join(filter(None, _said_of(value.item, model_name))) + ": " + value.snippet
        case Note():
            return value.text


def hits_text(count: int) -> str:
    """Return how many places were found."""
    return _tr("1 hit") if count == 1 else _tr("{count} hits").format(count=number_text(count))


def window_tooltip(window: WindowInfo) -> str:
    """Return all that is known of a window, a line each."""
    head = f"{window_name(window)} · {kind_words(window)}"
    figures = " · ".join(filter(None, [window_figures(window), size_text(max(0, window.end - window.start))]))
    lines = [head, window_times(window), figures, window.title, began_words(window)]
    return "\n".join(filter(None, lines))


def file_name(window: WindowInfo) -> str:
    """Return a name for a file of this window: number and day, in letters every system takes."""
    opened = window.opened or datetime.now(UTC)
    return _tr("window {number} {day}").format(number=window.number, day=opened.astimezone().date().isoformat())


def _said_of(item: HistoryItem, model_name: ModelName) -> list[str]:
    return [speaker(item, model_name), item_time(item), *marks(item), tools_text(item)]


def _state_words(state: str) -> str:
    match state:
        case "failed":
            return _tr("failed")
        case "interrupted":
            return _tr("interrupted")
        case "denied":
            return _tr("denied")
        case "pending":
            return _tr("not finished")
        case _:
            return state


def _tr(text: str) -> str:
    return QCoreApplication.translate("History", text)
