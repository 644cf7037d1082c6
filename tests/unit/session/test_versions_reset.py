"""Versions of what follows a manual reset."""

import pytest

from app.session.inputs import Accepted
from tests.fakes.scripted import reply
from tests.unit.session.conftest import Program


@pytest.mark.parametrize("is_reopened", [False, True])
async def test_the_first_message_of_a_fresh_window_can_be_edited(program: Program, *, is_reopened: bool) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"), reply("two!"))
    await chat.say("a")
    await chat.reset()
    await chat.say("b")
    if is_reopened:
        await program.restart()
        await program.manager.open_chat(chat.session)
    boundary, message = chat.rows()[2:4]
    assert Accepted() == await chat.edit(message.id, "b!")
    assert chat.texts() == ["a", "one", "", "b!", "two!"]
    assert [row.text for row in program.provider.requests[-1].rows] == ["b!"]
    (versions,) = chat.versions
    assert (versions.after, versions.current) == (boundary.id, 1)
    assert Accepted() == await chat.switch(boundary.id, versions.ids[0])
    assert chat.texts() == ["a", "one", "", "b", "two"]
