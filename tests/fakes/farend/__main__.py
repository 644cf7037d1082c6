"""The far end by hand: a provider to point the program at, without a key and without a network."""

import argparse
import asyncio
import sys
from pathlib import Path

from tests.fakes.farend.by_name import read_script
from tests.fakes.farend.models import Look
from tests.fakes.farend.server import FarEnd


def main() -> int:
    """Serve until Ctrl+C."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fakes.farend",
        description="Play a model provider on this computer, in the dialects of Anthropic and OpenAI.",
        epilog="The format of FILE is described at the top of tests/fakes/farend/by_name.py.",
    )
    parser.add_argument("--port", type=int, default=0, help="the port; a free one if it isn't given")
    parser.add_argument("--script", type=Path, metavar="FILE", help="answers to give in turn; then the usual answer")
    parser.add_argument("--words-per-second", type=float, default=8.0, help="pace of the usual answer (default: 8)")
    look = parser.add_mutually_exclusive_group()
    for name in ("ollama", "lmstudio", "llamacpp"):
        look.add_argument(f"--{name}", dest="look", action="store_const", const=name, help=f"look like {name}")
    options = parser.parse_args()
    try:
        asyncio.run(_serve(options.port, options.script, options.words_per_second, options.look or "plain"))
    except KeyboardInterrupt:
        return 0
    except (OSError, ValueError, TypeError, KeyError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


async def _serve(port: int, script: Path | None, words_per_second: float, look: Look) -> None:
    answers = read_script(script) if script is not None else []
    async with FarEnd(port=port, look=look, words_per_second=words_per_second, report=_print) as far:
        far.play(*answers)
        _print(
            f"The far end is at {far.url} ({far.url}/v1 for OpenAI's dialects), with {len(answers)} answers scripted."
        )
        await asyncio.Event().wait()


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
