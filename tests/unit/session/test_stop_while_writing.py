"""Stop while something is being written: what is on disk then is told as done. See context-windows.md, 12."""

import os
import threading
from collections.abc import Callable

import pytest

from app.domain.rows import Flag
from app.session.inputs import Accepted, EditMessage, Input, Regenerate, ResetContext, SwitchVersion, UserInput
from tests.fakes.scripted import reply
from tests.unit.session.conftest import Chat, Program, until


def message(_chat: Chat) -> Input:
    return UserInput("new", "new")


def edit(chat: Chat) -> Input:
    return EditMessage(chat.rows()[0].id, UserInput("new", "new"))


def regenerate(chat: Chat) -> Input:
    return Regenerate(chat.rows()[-1].id)


def switch(chat: Chat) -> Input:
    (versions,) = chat.versions
    return SwitchVersion(versions.after, versions.ids[0])


def reset(_chat: Chat) -> Input:
    return ResetContext()


@pytest.mark.parametrize(
    ("make", "texts"),
    [
        (message, ["hi", "two", "new", ""]),
        (edit, ["new", ""]),
        (regenerate, ["hi", ""]),
        (switch, ["hi", "one"]),
        (reset, ["hi", "two", ""]),
    ],
)
async def test_what_is_on_disk_is_told_as_done(
    program: Program, monkeypatch: pytest.MonkeyPatch, make: Callable[[Chat], Input], texts: list[str]
) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("hi")
    await chat.regenerate(chat.rows()[-1].id)
    item, sync = make(chat), os.fsync
    is_writing, goes_on = threading.Event(), threading.Event()

    def sync_later(descriptor: int) -> None:
        is_writing.set()
        goes_on.wait(10)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", sync_later)
    sending = program.tasks.spawn(program.manager.send(chat.session, item), name="send")
    await until(is_writing.is_set)
    for _ in range(2):
        await program.manager.stop(chat.session)
    goes_on.set()

    assert await sending == Accepted()
    await chat.idle()
    assert chat.texts() == texts
    last = chat.rows()[-1]
    assert (last.flags == (Flag.INTERRUPTED,)) == (make in (message, edit, regenerate))
    assert len(program.provider.requests) == 2
