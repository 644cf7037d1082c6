"""Nothing of the environment leaves this computer, and no key goes where a server sends it."""

import logging
import subprocess
import sys
from typing import Literal

import pytest

from app.settings.schema import Dialect
from tests.fakes.farend import FarEnd, redirect, reply
from tests.unit.providers.openai.connect import DIALECTS, KEY, ask, closing, fail, provider

SECRET = "from-the-environment"
VARIABLES = {
    "OPENAI_API_KEY": f"sk-{SECRET}",
    "OPENAI_ADMIN_KEY": f"sk-admin-{SECRET}",
    "OPENAI_ORG_ID": f"org-{SECRET}",
    "OPENAI_ORGANIZATION": f"org-{SECRET}",
    "OPENAI_PROJECT_ID": f"proj-{SECRET}",
    "OPENAI_WEBHOOK_SECRET": f"whsec-{SECRET}",
    "OPENAI_BASE_URL": f"http://{SECRET}.invalid/v1",
    "OPENAI_CUSTOM_HEADERS": f"Authorization: Bearer {SECRET}\nX-Own: {SECRET}\nUser-Agent: {SECRET}",
    "OPENAI_API_TYPE": "azure",
    "OPENAI_API_VERSION": SECRET,
    "OPENAI_LOG": "debug",
    "AZURE_OPENAI_API_KEY": SECRET,
    "AZURE_OPENAI_AD_TOKEN": SECRET,
    "AZURE_OPENAI_ENDPOINT": f"http://{SECRET}.invalid",
    "AWS_BEARER_TOKEN_BEDROCK": SECRET,
    "AWS_BEDROCK_BASE_URL": f"http://{SECRET}.invalid",
    "ANTHROPIC_API_KEY": SECRET,
    "ANTHROPIC_AUTH_TOKEN": SECRET,
}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("key", [KEY, None])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_no_variable_reaches_a_server(
    far: FarEnd, dialect: Dialect, key: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    far.play(reply("Hi"))

    with caplog.at_level(logging.DEBUG):
        async with closing(provider(far, dialect, key=key, needs_key=False)) as asked:
            await ask(asked)
            await asked.list_models()

    assert len(far.requests) == 2
    for received in far.requests:
        sent = f"{received.path} {received.headers} {received.body.decode()}"
        assert SECRET not in sent
        assert received.header("x-own") is None
        assert received.header("authorization") == (f"Bearer {key}" if key else None)
    assert SECRET not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_redirect_gets_neither_request_nor_key(
    far: FarEnd, dialect: Dialect, status: Literal[301, 302, 303, 307, 308]
) -> None:
    async with FarEnd() as elsewhere:
        far.play(redirect(f"{elsewhere.url}/v1/chat/completions", status=status))

        _, failure = await fail(provider(far, dialect))

        assert elsewhere.requests == []
        assert elsewhere.connections == 0
    assert elsewhere.url in failure.detail
    assert KEY not in failure.detail


def test_a_variable_for_the_log_turns_nothing_on() -> None:
    program = """
import logging
from app.providers.openai.api import open_sender
from app.settings.schema import OPENAI, Network
open_sender(OPENAI, Network())
print(logging.getLogger("openai").getEffectiveLevel() == logging.WARNING)
"""

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ran.stdout == "True\n"
