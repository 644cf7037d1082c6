"""What a search over all chats finds, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.domain.windows import Skipped

if TYPE_CHECKING:
    from app.domain.chats import ChatSummary
    from app.domain.windows import Mark, SearchHit

_NOTHING: Final = Skipped()


@dataclass(frozen=True, slots=True)
class ChatHits:
    """The newest hits of one chat; they stand for all that was told of it before."""

    chat: ChatSummary
    hits: tuple[SearchHit, ...]
    has_more: bool = False
    """The chat has more of them; it is not searched any further."""


@dataclass(frozen=True, slots=True)
class ChatSearchCursor:
    """Where a search goes on: opaque to all but `session.chat_search`."""

    waiting: tuple[ChatSummary, ...]
    """Chats that are not searched to their end, the latest first."""
    total: int
    mark: Mark | None = None
    """In the first of them."""
    hits: tuple[SearchHit, ...] = ()
    """Of the first of them, so far."""
    restarts: int = 0
    skipped: Skipped = _NOTHING
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class ChatSearchPage:
    """A bounded piece of a search, the latest chats first. `next` is None if it is exhausted."""

    found: tuple[ChatHits, ...]
    next: ChatSearchCursor | None
    searched: int
    """Chats that were searched to their end, or as far as they are shown, in all pages."""
    total: int
    skipped: Skipped
    """In all pages."""
    unreadable: int
    """Chats that could not be read, in all pages."""
