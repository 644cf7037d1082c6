"""Everything Muntin raises on purpose.

MuntinError
├── KnownError                  the environment's fault; its text is a sentence for people
│   ├── StorageError            a file or folder can't be read or written
│   │   ├── Conflict            the end of a chat moved under a writer
│   │   └── StaleItem           an item of the history is not where it was
│   ├── InvalidCursor           a cursor that was not given for this question
│   ├── ChatInUse               another process holds the chat
│   ├── ChatNotFound            no such chat on disk
│   └── ProviderError           a request to a model failed; has a kind
└── BugError                    our fault; never shown as if the person could mend it
"""

from enum import StrEnum


class MuntinError(Exception):
    """Root of the tree."""


class KnownError(MuntinError):
    """Something outside the program went wrong; `str()` is a sentence for people."""


class StorageError(KnownError):
    """A file or folder of the data folder can't be read or written."""


class Conflict(StorageError):
    """Another writer appended to the chat first; nothing of ours was written."""


class DuplicateRow(StorageError):
    """A row with this id is already in the chat; nothing was written."""


class HistoryChanged(StorageError):
    """The history was rewritten between two pages; read again from the start."""


class StaleItem(StorageError):
    """An exact reference to an item of the history names another row by now; nothing was read."""


class InvalidCursor(KnownError):
    """A cursor that was altered, or given for another chat or question; nothing was read."""


class ChatInUse(KnownError):
    """Another process has the chat open; `holder` names it."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"This chat is open in {holder}.")
        self.holder = holder


class ChatNotFound(StorageError):
    """The chat's folder is gone."""


class BugError(MuntinError):
    """A broken promise inside the program."""


class ErrorKind(StrEnum):
    """Why a request to a model failed (context-windows.md, 12)."""

    AUTHENTICATION = "authentication"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    NETWORK = "network"
    CONTEXT_EXCEEDED = "context_exceeded"
    MODEL_NOT_FOUND = "model_not_found"
    REFUSAL = "refusal"
    TRUNCATED = "truncated"
    INVALID_REQUEST = "invalid_request"
    CANCELLED = "cancelled"


MAX_DETAIL_CHARS = 500


class ProviderError(KnownError):
    """A request to a model failed.

    `detail`, capped at `MAX_DETAIL_CHARS`, is a sentence of Muntin's that says all of it, or with `is_quote` the
    provider's own words, which need one beside them. It never holds a key.
    `retry_after_seconds` is what the provider asked for, if it did. `allowed_output` is set if the input alone
    would have fitted: the largest `max_tokens` the provider would have taken. `excess_tokens` is set where it tells
    only by how much input and `max_tokens` together were too many.
    """

    def __init__(
        self,
        kind: ErrorKind,
        detail: str = "",
        *,
        retry_after_seconds: float | None = None,
        allowed_output: int | None = None,
        excess_tokens: int | None = None,
        is_quote: bool = False,
    ) -> None:
        super().__init__(detail or kind.value)
        self.kind = kind
        self.detail = detail[:MAX_DETAIL_CHARS]
        self.retry_after_seconds = retry_after_seconds
        self.allowed_output = allowed_output
        self.excess_tokens = excess_tokens
        self.is_quote = is_quote
