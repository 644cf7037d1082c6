"""Keys go where they belong and nowhere else: not to other servers, not to any file, not to the log."""

import importlib.util
import io
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app import VERSION
from app.domain.connections import KeyPlace
from app.logs import Log, log_file
from app.settings.schema import Dialect, Endpoint, Privacy, Settings
from tests.fakes.farend import Cut, FarEnd, StreamError, error, html_page, json_answer, redirect, reply
from tests.unit.session.conftest import Chat, Program

KEY = "quite-a-secret-0123456789-abcdef"
SPOILED = "spoiled-by-the-environment"
OF_ANOTHER_FORM = {
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
    "OPENAI_BASE_URL": "http://127.0.0.1:1",
    "ANTHROPIC_LOG": "debug",
    "OPENAI_LOG": "debug",
}
"""Variables whose values must have a form of their own to be taken at all."""


def variables() -> set[str]:
    """Every name of a variable that stands in the vendors' libraries, and those people have from elsewhere."""
    found = {"OPENAI_ORGANIZATION", "OPENAI_PROJECT"}
    for library in ("anthropic", "openai"):
        spec = importlib.util.find_spec(library)
        assert spec is not None
        assert spec.origin is not None
        for path in Path(spec.origin).parent.rglob("*.py"):
            found.update(re.findall(r"[\"'`]((?:ANTHROPIC|OPENAI)_[A-Z_]+)[\"'`]", path.read_text("utf-8")))
    return found


VARIABLES = variables()


@pytest.fixture(autouse=True)
def spoiled_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variable either SDK reads, each with a value that can be found again."""
    for name in VARIABLES:
        value = f"{name.lower()}-{SPOILED}"
        spoiled = f"X-Spoiled: {value}" if name.endswith("HEADERS") else value
        monkeypatch.setenv(name, OF_ANOTHER_FORM.get(name, spoiled))
    assert len(VARIABLES) > 30
    assert set(OF_ANOTHER_FORM) < VARIABLES


@pytest.fixture
async def far() -> AsyncIterator[FarEnd]:
    async with FarEnd() as made:
        yield made


@pytest.fixture
def log(program: Program, caplog: pytest.LogCaptureFixture) -> Iterator[Log]:
    made = Log(program.root, stream=io.StringIO())
    yield made
    made.close()
    caplog.get_records("call").clear()


async def chat_with(program: Program, far: FarEnd, dialect: Dialect, *, needs_key: bool) -> Chat:
    base_url = far.url if dialect == "anthropic" else f"{far.url}/v1"
    # Claiming to be the vendor gets nobody the vendor's key.
    maker = "anthropic" if dialect == "anthropic" else "openai"
    endpoint = Endpoint(id="far", name="Far end", maker=maker, dialect=dialect, base_url=base_url, needs_key=needs_key)
    privacy = Privacy(detailed_log=True)

    def edit(settings: Settings) -> Settings:
        return settings.model_copy(update={"endpoints": (endpoint,), "privacy": privacy})

    await program.manager.connections.change(edit)
    if needs_key:
        await program.manager.connections.save_key("far", KEY, KeyPlace.STORE)
    chat = await program.new_chat()
    await program.manager.set_model(chat.session, "far/model-one")
    return chat


@pytest.mark.parametrize("dialect", ["anthropic", "responses", "chat"])
async def test_a_compatible_server_and_where_it_redirects_get_nothing_of_the_environment(
    program: Program, far: FarEnd, dialect: Dialect
) -> None:
    async with FarEnd() as elsewhere:
        chat = await chat_with(program, far, dialect, needs_key=False)
        far.play(reply("ok"), redirect(f"{elsewhere.url}/v1/taken"))
        await chat.say("one")
        await chat.say("two")
        await program.manager.connections.refresh_models("far")
        assert len(far.requests) >= 3
        assert elsewhere.requests == []
    received = "".join(f"{request.headers}{request.body!r}{request.path}" for request in far.requests)
    assert SPOILED not in received
    assert "stainless" not in received, "nothing of this computer's system either"
    assert {request.header("user-agent") for request in far.requests} == {f"Muntin/{VERSION}"}
    error_ = chat.rows()[-1].error
    assert error_ is not None
    assert elsewhere.url in error_.detail, "the person is told where it points"


@pytest.mark.parametrize("dialect", ["anthropic", "responses", "chat"])
async def test_a_key_is_in_no_file_and_no_log_whatever_goes_wrong(
    program: Program, far: FarEnd, log: Log, dialect: Dialect
) -> None:
    chat = await chat_with(program, far, dialect, needs_key=True)
    log.hide(program.manager.connections._secrets.known)
    far.play(
        reply("ok"),
        error(401, message=f"Incorrect API key provided: {KEY}."),
        error(400, message=f"strange header Bearer {KEY}"),
        html_page(f"hello {KEY}", status=403),
        json_answer({"error": {"message": KEY, "code": KEY, "type": KEY}}, status=422),
        reply("half", StreamError("api_error", message=f"could not use {KEY}")),
        reply("half").but(Cut(after_bytes=90)),
        redirect(f"{far.url}/?key={KEY}"),
    )
    texts = [f"message {number}" for number in range(8)]
    for text in texts:
        await chat.say(text)
    await program.manager.connections.test(
        (await program.manager.connections.settings()).endpoints[0], key=KEY, model="model-one"
    )
    await program.manager.close()

    assert far.left == 0
    assert any(KEY in str(request.headers) for request in far.requests), "the key was used"
    assert found_in(program.root, KEY) == []
    assert found_in(program.root, SPOILED) == []
    text = log_file(program.root).read_text("utf-8")
    assert "/v1/" in text, "the detailed log tells of requests"
    assert [each for each in texts if each in text] == [], "but nothing of what was said"


def found_in(root: Path, needle: str) -> list[str]:
    """Return the files below `root` that hold `needle`."""
    files = [Path(folder) / name for folder, _, names in os.walk(root) for name in names]
    assert len(files) > 3
    return [str(path.relative_to(root)) for path in files if needle.encode() in path.read_bytes()]
