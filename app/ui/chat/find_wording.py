"""What find in chat has found, in words."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.domain.windows import Skipped

_MB = 2**20
_LEAST_TOLD = 8 * _MB
"""A smaller history is searched before anybody could read how far it has got."""


def found_text(number: int, count: int, *, is_more: bool, progress: tuple[int, int] | None) -> str:
    """Return `3 of 57`, or how many there are if none is meant; `progress` is bytes searched and in all."""
    total = _number(count) + ("+" if is_more else "")
    if number:
        text = _tr("{number} of {total}").format(number=_number(number), total=total)
    elif count:
        text = _tr("{total} found").format(total=total)
    elif progress is None:
        return _tr("Not found")
    else:
        text = _tr("Searching…")
    if progress is None or progress[1] < _LEAST_TOLD:
        return text
    done, whole = (_number(round(size / _MB)) for size in progress)
    return text + " · " + _tr("searched {done} of {whole} MB").format(done=done, whole=whole)


def note_text(skipped: Skipped) -> str:
    """Return what was not searched, empty if all was."""
    kinds = (
        (skipped.oversized, _tr("1 entry that is too long"), _tr("{count} entries that are too long")),
        (skipped.damaged, _tr("1 damaged entry"), _tr("{count} damaged entries")),
        (skipped.blobs, _tr("1 text kept apart"), _tr("{count} texts kept apart")),
    )
    told = [one if count == 1 else many.format(count=_number(count)) for count, one, many in kinds if count]
    return _tr("Not searched: {kinds}").format(kinds=", ".join(told)) if told else ""


def _number(number: int) -> str:
    return QLocale().toString(number)


def _tr(text: str) -> str:
    return QCoreApplication.translate("FindBar", text)
