"""Uses the system's key store as Muntin does, as a process of its own.

`python -m tests.e2e.key_user FOLDER [save|delete]...` does that in order, with the keys to save on the lines of its
input; then it says as one line of JSON what a page of providers would show, and which key would be sent.
"""

import asyncio
import json
import sys
from pathlib import Path

from app.domain.connections import KeyPlace
from app.domain.errors import KnownError
from app.settings.key_store import KeyringStore
from app.settings.schema import OPENAI
from app.settings.secrets import Secrets


async def use(folder: Path, steps: list[str]) -> dict[str, str | None]:
    """Return where the key is after `steps`, the key itself, and what went wrong, each as one text."""
    secrets = Secrets(KeyringStore(), file=folder / "keys.json", environ={})
    errors = []
    for step in steps:
        try:
            if step == "save":
                await secrets.save(OPENAI, sys.stdin.readline(), KeyPlace.STORE)
            else:
                await secrets.delete(OPENAI)
        except KnownError as error:
            errors.append(str(error))
    state = await secrets.state(OPENAI)
    try:
        key = await secrets.key(OPENAI)
    except KnownError as error:
        key = None
        errors.append(str(error))
    return {
        "place": state.place,
        "store": state.store_name,
        "problem": state.problem,
        "key": key,
        "errors": "\n".join(errors),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(use(Path(sys.argv[1]), sys.argv[2:]))))  # noqa: T201 - for the test that started it
