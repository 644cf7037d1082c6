"""What can be done with a message of the transcript, and the versions it is one of; in words and as icons."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale


class Deed(StrEnum):
    """One thing that can be done with a message."""

    PREVIOUS = "previous"
    """Show the version before the one that is shown."""
    NEXT = "next"
    COPY = "copy"
    COPY_PLAIN = "copy_plain"
    QUOTE = "quote"
    EDIT = "edit"
    ANSWER_AGAIN = "answer_again"
    ANSWER_WITH = "answer_with"
    """Answer again with another model."""
    BRANCH = "branch"
    RAW = "raw"
    WHY = "why"
    """Say why the model is not shown it any more."""
    MORE = "more"
    """Everything there is, as a menu."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that can be done, or the sentence that says why it can't be done now."""

    deed: Deed
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class VersionMark:
    """Which of several versions is shown, counted from 1."""

    number: int
    count: int


Offers = Callable[[str], Sequence[Offer]]
"""Gives what can be done with an item, by its id; nothing for what is no message."""
Marks = Mapping[str, VersionMark]
"""By the id of the first item of each version."""

ON_BAR: Final = frozenset({Deed.COPY, Deed.QUOTE, Deed.EDIT, Deed.ANSWER_AGAIN, Deed.BRANCH})
"""What has an icon of its own below a message; the rest is in the menu."""
ICONS: Final = {
    Deed.PREVIOUS: "chevron-left",
    Deed.NEXT: "chevron-right",
    Deed.COPY: "copy",
    Deed.QUOTE: "text-quote",
    Deed.EDIT: "pencil",
    Deed.ANSWER_AGAIN: "refresh-cw",
    Deed.BRANCH: "git-branch",
    Deed.MORE: "ellipsis",
}


def menu_text(deed: Deed) -> str:
    """Return what a line of the menu says."""
    return {
        Deed.PREVIOUS: _tr("Previous version"),
        Deed.NEXT: _tr("Next version"),
        Deed.COPY: _tr("Copy message"),
        Deed.COPY_PLAIN: _tr("Copy message as plain text"),
        Deed.QUOTE: _tr("Quote in your message"),
        Deed.EDIT: _tr("Edit and send again"),
        Deed.ANSWER_AGAIN: _tr("Answer again"),
        Deed.ANSWER_WITH: _tr("Answer again with another model…"),
        Deed.BRANCH: _tr("Branch a new chat from here"),
        Deed.RAW: _tr("Show raw entry"),
        Deed.WHY: _tr("Why is this not in the window?"),
        Deed.MORE: _tr("More…"),
    }[deed]


def button_name(offer: Offer, mark: VersionMark | None) -> str:
    """Return what a button is called: its tooltip, and what a screen reader says."""
    name = {
        Deed.COPY: _tr("Copy this message"),
        Deed.QUOTE: _tr("Quote this message in yours"),
        Deed.EDIT: _tr("Edit this message"),
        Deed.MORE: _tr("More about this message"),
    }.get(offer.deed, menu_text(offer.deed))
    if mark is not None and offer.deed in (Deed.PREVIOUS, Deed.NEXT):
        name = f"{version_text(mark)}: {name}"
    return f"{name}. {offer.refusal}" if offer.refusal else name


def version_text(mark: VersionMark) -> str:
    """Return which version it is, in words."""
    locale = QLocale()
    text = _tr("Version {number} of {count}")
    return text.format(number=locale.toString(mark.number), count=locale.toString(mark.count))


def short_version_text(mark: VersionMark) -> str:
    """Return which version it is, in figures."""
    locale = QLocale()
    return f"{locale.toString(mark.number)}/{locale.toString(mark.count)}"


def steps_of(mark: VersionMark, refusal: str) -> tuple[Offer, Offer]:
    """Return the ways to the version before and to the one behind."""
    first = "" if mark.number > 1 else _tr("This is the first version.")
    last = "" if mark.number < mark.count else _tr("This is the newest version.")
    return Offer(Deed.PREVIOUS, first or refusal), Offer(Deed.NEXT, last or refusal)


def no_offers(_item_id: str) -> Sequence[Offer]:
    """Offer nothing."""
    return ()


def _tr(text: str) -> str:
    return QCoreApplication.translate("MessageDeeds", text)
