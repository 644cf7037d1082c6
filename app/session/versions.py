"""Editing and asking again: where a turn goes on in the active window, and the versions that makes.

See context-windows.md, 3. What is cut off is kept; rows of earlier windows can't be cut.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.aio import run_to_end
from app.domain.rows import Kind, Row
from app.domain.versions import CutReason
from app.session.inputs import Accepted, Outcome, Refused, SwitchVersion
from app.session.turn_env import TurnEnv

_SEALED = (
    "Only messages of the newest context window can be changed. From an earlier one you can branch a new chat instead."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Behind which row of the active window a turn goes on, what the window is up to there, and why."""

    after: str
    """Empty for the beginning of a history without any boundary."""
    window: tuple[Row, ...]
    reason: CutReason


def place_of_edit(window: Sequence[Row], row_id: str) -> Place | Refused:
    """Return the place of a message of the person's that is to be replaced."""
    at = next((at for at, row in enumerate(window) if row.id == row_id and is_message(row)), None)
    return Refused(_SEALED) if at is None else Place(_id_before(window, at), tuple(window[:at]), "edit")


def place_of_answer(window: Sequence[Row], row_id: str) -> Place | Refused:
    """Return the place behind the message that a reply answers, or behind that message itself."""
    found = next((at for at, row in enumerate(window) if row.id == row_id and row.boundary is None), None)
    if found is None:
        return Refused(_SEALED)
    # Whatever a turn is named after: it goes on from the last thing the person has said before this reply.
    asked = next((at for at in reversed(range(found + 1)) if is_message(window[at])), None)
    if asked is None:
        return Refused(_SEALED)
    return Place(window[asked].id, tuple(window[: asked + 1]), "regenerate")


def is_message(row: Row) -> bool:
    """Whether the person wrote this row."""
    return row.role == "user" and row.kind == Kind.MESSAGE and row.boundary is None


async def switch_version(turn: TurnEnv, item: SwitchVersion, accepted: "asyncio.Future[Outcome]") -> None:
    """Put another version in place of what follows a row. Raises StorageError; nothing has changed then."""
    window = turn.state.window
    at = 0 if not item.after else next((at + 1 for at, row in enumerate(window) if row.id == item.after), None)
    if at is None:
        accepted.set_result(Refused(_SEALED))
        return
    head = tuple(window[:at])

    async def switch() -> None:
        await turn.switch_tail(item.after, head, item.branch)
        accepted.set_result(Accepted())

    await run_to_end(switch(), turn.env.tasks, name=f"switch versions of {turn.session}")


def _id_before(window: Sequence[Row], at: int) -> str:
    return window[at - 1].id if at else ""
