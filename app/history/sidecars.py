"""Small files beside a chat's history: what the list shows, and the draft.

Fields nobody knows are kept. A file that can't be read is set aside as `.damaged` and counts as
absent; opening a chat never fails because of it.
"""

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, TypeVar

import orjson
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from app.disk import replace, storage_error, write_atomic
from app.domain.ids import new_id
from app.domain.queue import When
from app.domain.rows import MediaPart
from app.history.codec import encode_json


def _shown_time(value: datetime) -> datetime:
    """A time outside of what a clock can show becomes the nearest that can."""
    return min(max(value, datetime(1970, 1, 2, tzinfo=UTC)), datetime(9000, 1, 1, tzinfo=UTC))


ShownTime = Annotated[AwareDatetime, AfterValidator(_shown_time)]


class SessionMeta(BaseModel):
    """`session.json`. `title` is empty until the first message; `titled_by_user` keeps ours from replacing it."""

    model_config = ConfigDict(extra="allow")

    title: str = ""
    titled_by_user: bool = False
    model: str = ""
    """`provider/model`."""
    level: str = ""
    """A `ThinkingLevel`; empty leaves it to the provider."""
    profile: str = ""
    """Id of the profile; empty for the one of new chats."""
    folder: str = ""
    """The folder that tools may work in, as an absolute path; empty for none."""
    grants: tuple[str, ...] = ()
    """What is “always allowed in this chat”: scopes of questions."""
    pinned: bool = False
    created: ShownTime = Field(default_factory=lambda: datetime.now(UTC))
    updated: ShownTime = Field(default_factory=lambda: datetime.now(UTC))
    floor_seq: int | None = None
    """Sequence number of the newest manual reset, written before its row."""


def _whole_parts(value: object) -> tuple[MediaPart, ...]:
    parts: list[MediaPart] = []
    for entry in value if isinstance(value, list | tuple) else ():
        with contextlib.suppress(ValidationError):
            parts.append(MediaPart.model_validate(entry))
    return tuple(parts)


class Draft(BaseModel):
    """`draft.json`: what stands in the composer."""

    model_config = ConfigDict(extra="allow")

    text: str = ""
    attachments: Annotated[tuple[MediaPart, ...], BeforeValidator(_whole_parts)] = ()
    """Files whose content lies in the chat's blobs; entries that can't be read are dropped."""


class QueuedEntry(BaseModel):
    """One message of `queue.json`; see `domain.queue.QueuedMessage`."""

    model_config = ConfigDict(extra="allow")

    id: str
    text: str = ""
    attachments: tuple[MediaPart, ...] = ()
    when: When = When.AFTER_TURN
    model: str = ""
    level: str = ""
    profile: str = ""


class Queue(BaseModel):
    """`queue.json`: messages that wait for their turn, in the order in which they are sent."""

    model_config = ConfigDict(extra="allow")

    messages: tuple[QueuedEntry, ...] = ()


class Deleted(BaseModel):
    """`deleted.json` in a folder of the trash."""

    model_config = ConfigDict(extra="allow")

    deleted: ShownTime


Sidecar = TypeVar("Sidecar", bound=BaseModel)


def read_sidecar(path: Path, shape: type[Sidecar], *, may_repair: bool = True) -> Sidecar | None:
    """Return what `path` holds, None if it is missing; a broken one counts as missing.

    With `may_repair` it is set aside as `.damaged`: only who holds the chat's lease may.

    Raises StorageError if it is there and can't be read: it must not be taken for missing and overwritten.
    """
    try:
        return shape.model_validate(orjson.loads(path.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValidationError, orjson.JSONDecodeError):
        with contextlib.suppress(OSError):
            if may_repair:
                replace(path, path.with_name(f"{path.name}.{new_id()}.damaged"))
        return None
    except OSError as error:
        raise storage_error(f"{path.name} can't be read", error) from error


_NAMES: Final = {Draft: "Your draft", Queue: "The waiting message"}
"""What can't be saved, in the words of an error."""


def write_sidecar(path: Path, value: BaseModel) -> None:
    """Put `value` at `path`, atomically. Raises StorageError."""
    what = next((name for shape, name in _NAMES.items() if isinstance(value, shape)), "This chat's title")
    write_atomic(path, encode_json(value.model_dump(mode="json", exclude_none=True)), what=what)
