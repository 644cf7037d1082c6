"""Nothing of the environment leaves this computer, and no key goes where a server sends it."""

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from app.domain.errors import ErrorKind
from tests.fakes.farend import FarEnd, redirect, reply
from tests.unit.providers.anthropic.connect import KEY, ask, fail, provider

SECRET = "from-the-environment"
VARIABLES = {
    "ANTHROPIC_API_KEY": f"sk-ant-{SECRET}",
    "ANTHROPIC_AUTH_TOKEN": f"token-{SECRET}",
    "ANTHROPIC_BASE_URL": f"http://{SECRET}.invalid",
    "ANTHROPIC_CUSTOM_HEADERS": "\n".join(
        f"{name}: {SECRET}" for name in ("X-Own", "X-Api-Key", "Authorization", "User-Agent", "anthropic-beta")
    ),
    "ANTHROPIC_WEBHOOK_SIGNING_KEY": f"whsec_{SECRET}",
    "ANTHROPIC_PROFILE": SECRET,
    "ANTHROPIC_IDENTITY_TOKEN": SECRET,
    "ANTHROPIC_FEDERATION_RULE_ID": SECRET,
    "ANTHROPIC_ORGANIZATION_ID": SECRET,
    "ANTHROPIC_SERVICE_ACCOUNT_ID": SECRET,
    "ANTHROPIC_WORKSPACE_ID": SECRET,
    "ANTHROPIC_SCOPE": SECRET,
    "ANTHROPIC_LOG": "debug",
    "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
    "OPENAI_API_KEY": SECRET,
    "AWS_BEARER_TOKEN_BEDROCK": SECRET,
}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    # A profile and its credentials, as the vendor's command line leaves them.
    folder = tmp_path / "config"
    for kind, content in {
        "configs": {
            "base_url": f"http://{SECRET}.invalid",
            "authentication": {"type": "user_oauth"},
            "workspace_id": SECRET,
        },
        "credentials": {"access_token": SECRET, "refresh_token": SECRET},
    }.items():
        (folder / kind).mkdir(parents=True)
        for name in (SECRET, "default"):
            (folder / kind / f"{name}.json").write_text(json.dumps(content))
    (folder / "active_config").write_text(SECRET)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(folder))


@pytest.mark.parametrize("key", [KEY, None])
async def test_nothing_of_the_environment_reaches_a_server(
    far: FarEnd, key: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    far.play(reply("Hi"))

    with caplog.at_level(logging.DEBUG):
        async with provider(far, key=key, needs_key=False) as asked:
            await ask(asked)
            await asked.list_models()

    assert len(far.requests) == 2
    for received in far.requests:
        sent = f"{received.path} {received.headers} {received.body.decode()}"
        assert SECRET not in sent
        assert received.header("authorization") == (f"Bearer {key}" if key else None)
        assert received.header("x-api-key") is None
    assert SECRET not in caplog.text
    assert KEY not in caplog.text
    assert "Be brief." not in caplog.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_gets_neither_request_nor_key(far: FarEnd, status: Literal[301, 302, 303, 307, 308]) -> None:
    async with FarEnd() as elsewhere:
        far.play(redirect(f"{elsewhere.url}/v1/messages?key={KEY}", status=status))
        far.play(redirect(f"{elsewhere.url}/v1/models", status=status), path="/models")

        async with provider(far) as asked:
            _, failure = await fail(asked)
            with pytest.raises(Exception, match="sends on to"):
                await asked.list_models()

        assert not elsewhere.connections
    assert failure.kind is ErrorKind.INVALID_REQUEST
    assert f"{elsewhere.url}/v1/messages" in failure.detail
    assert KEY not in failure.detail


def test_the_library_waits_until_it_is_needed() -> None:
    program = "import sys, app.providers.anthropic.api; print(sorted({'anthropic', 'httpx2'} & set(sys.modules)))"

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ran.stdout == "[]\n"
