"""A manual reset: a fresh context window begins, and nothing before it reaches a model or its tools again.

The floor in `session.json` comes first, the boundary row second: a crash between the two leaves the reset standing,
and the next who opens the chat writes its row. See context-windows.md, 4.
"""

import asyncio
import contextlib

from app.aio import run_blocking, run_to_end
from app.domain.errors import KnownError, ProviderError, StorageError
from app.domain.events import MemoriesChanged
from app.domain.rows import Boundary, Kind, Row, Usage
from app.session.env import SessionEnv
from app.session.inputs import Accepted, Outcome, Refused
from app.session.state import SessionState, active_slice
from app.session.turn_env import TurnEnv


async def reset_context(turn: TurnEnv, accepted: "asyncio.Future[Outcome]", *, sets_notes_aside: bool = False) -> None:
    """Begin a fresh window. `accepted` learns what became of it. Raises StorageError; nothing is reset then.

    The model's notes for its later self are renamed first if wanted: they are not put before it again.

    Of the window in `turn.state` the `newest_rows` are enough; it is whole afterwards.
    """
    if not active_slice(turn.state.window):
        accepted.set_result(Refused("This context window is fresh already: there is nothing in it to leave behind."))
        return

    async def write() -> None:
        renamed = await _set_notes_aside(turn) if sets_notes_aside else ""
        try:
            await _write_reset(turn)
        except StorageError:
            await _bring_notes_back(turn, renamed)
            raise
        turn.env.forget_preload(turn.files)
        turn.state.window_is_loaded = True
        accepted.set_result(Accepted())

    await run_to_end(write(), turn.env.tasks, name=f"reset {turn.session}")


async def write_missing_reset(turn: TurnEnv) -> None:
    """Write the row of a reset that a crash cut off behind its floor, whatever was said last. Raises StorageError."""
    await turn.append((_reset_row(turn),))
    if turn.state.meta.floor_seq != turn.state.last_seq:
        # Rows were lost meanwhile, or a reply came before it: what follows must not count as before the floor.
        turn.state.meta.floor_seq = turn.state.last_seq
        await turn.save_meta()


async def _set_notes_aside(turn: TurnEnv) -> str:
    """Return the new path of the notes, empty if there are none."""
    from app.memory.memories import workspace_store
    from app.memory.notes import set_notes_aside

    try:
        renamed = await run_blocking(
            set_notes_aside, workspace_store(turn.files.folder), turn.env.clock.now().astimezone().date()
        )
    except KnownError as error:
        raise StorageError(f"The notes can't be set aside, so nothing was reset. {error}") from error
    if renamed:
        turn.env.emit(MemoriesChanged(turn.session))
    return renamed


async def _bring_notes_back(turn: TurnEnv, renamed: str) -> None:
    from app.memory.memories import workspace_store
    from app.memory.notes import bring_notes_back

    if renamed:
        with contextlib.suppress(KnownError):
            await run_blocking(bring_notes_back, workspace_store(turn.files.folder), renamed)
            turn.env.emit(MemoriesChanged(turn.session))


async def _write_reset(turn: TurnEnv) -> None:
    meta = turn.state.meta
    floor_seq, before = turn.state.last_seq + 1, meta.floor_seq
    meta.floor_seq = floor_seq
    try:
        await turn.save_meta()
        await turn.append((_reset_row(turn),))
    except StorageError as error:
        meta.floor_seq = before
        # If this fails too, the reset stands at the next open: rather that than the contrary.
        with contextlib.suppress(StorageError):
            await turn.save_meta()
        raise StorageError(f"The context can't be reset now. {error}") from error


def _reset_row(turn: TurnEnv) -> Row:
    context_tokens, limit = window_cost(turn.state, turn.env)
    return Row(
        boundary=Boundary(kind="reset", context_tokens=context_tokens, limit=limit),
        id=turn.env.new_id(),
        session=turn.session,
        role="user",
        created=turn.env.clock.now(),
        kind=Kind.RESET,
    )


def window_cost(state: SessionState, env: SessionEnv) -> tuple[int | None, int | None]:
    """Return what the newest reply of the window cost with all before it, and its model's limit, as far as known."""
    for row in reversed(active_slice(state.window)):
        if row.request is not None and row.usage is not None and (tokens := _tokens(row.usage)) is not None:
            limit = None
            with contextlib.suppress(ProviderError):
                _, card = env.providers.find(f"{row.request.provider}/{row.request.model}")
                limit = card.limit
            return tokens, limit
    return None, None


def _tokens(usage: Usage) -> int | None:
    return usage.input + (usage.output or 0) if usage.input is not None else None
