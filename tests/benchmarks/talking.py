"""A child process: the program with the model of its settings, which is sent one message; then it stays.

Prints a line when the reply is on disk and shown.
"""

import asyncio
import sys
from pathlib import Path

from app.bootstrap import Program
from tests.benchmarks.driver import drive, until

REPLY = "The reply has come."


async def _talk(program: Program, root: Path, model: str) -> None:
    window = program.window
    await until(lambda: window.controller.session and window.chats.open_model() == model)
    window.page.composer.set_text("Say something.")
    window.page.composer.submit()
    await until(lambda: any(REPLY in chat.read_text("utf-8") for chat in root.glob("sessions/*/chat.jsonl")))
    await until(lambda: not window.controller.is_streaming and len(window.page.transcript.nodes) == 2)
    sys.stdout.write("{}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def main() -> None:
    root, model = sys.argv[1:]
    drive(Path(root), lambda program: _talk(program, Path(root), model))


if __name__ == "__main__":
    main()
