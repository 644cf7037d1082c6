"""`make soak`: kill Muntin again and again, and look what is lost. Ends with 1 if anything is."""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.soak.calls import CallSoak
from tests.soak.headless import Soak
from tests.soak.screen import missing_tools
from tests.soak.window import WindowSoak


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, metavar="N", help="kills without a window (default 50)")
    parser.add_argument("--call-kills", type=int, default=100, metavar="N", help="kills in turns (default 100)")
    parser.add_argument("--window-kills", type=int, default=5, metavar="N", help="kills of the real window (default 5)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9, help="chooses what is done and when")
    arguments = parser.parse_args()
    missing = missing_tools() if arguments.window_kills else []
    if missing:
        say(f"The real window can't be killed here: {' and '.join(missing)} missing. Leave it out: --window-kills 0")
        return 2
    say(f"seed {arguments.seed}")
    root = Path(tempfile.mkdtemp(prefix="muntin-soak-"))
    problems = kill_engine(root / "engine", arguments.kills, arguments.seed)
    problems += kill_turns(root / "turns", arguments.call_kills, arguments.seed)
    if arguments.window_kills:
        problems += kill_window(root / "window", arguments.window_kills, arguments.seed)
    if problems:
        say(f"FAILED (seed {arguments.seed}): {len(problems)} checks. The data folder stays in {root}")
        return 1
    shutil.rmtree(root)
    say(f"passed (seed {arguments.seed})")
    return 0


def kill_engine(root: Path, kills: int, seed: int) -> list[str]:
    """Kill the engine without a window; return what was wrong."""
    tally = Soak(root, seed, say).run(kills)
    say(
        f"{tally.kills} kills: {tally.acknowledged:,} rows acknowledged and each there once, {tally.rows:,} in all; "
        f"{tally.interrupted} replies shown as interrupted; nothing sent by itself"
        if not tally.problems
        else f"{tally.kills} kills, {len(tally.problems)} problems:\n" + "\n".join(tally.problems)
    )
    say("what the kills left: " + ", ".join(f"{count} {what}" for what, count in sorted(tally.seen.items())))
    return tally.problems


def kill_turns(root: Path, kills: int, seed: int) -> list[str]:
    """Kill turns that call tools, while a person does everything else; return what was wrong."""
    tally = CallSoak(root, seed, say).run(kills)
    say(
        f"{tally.kills} kills in turns: {tally.acknowledged:,} messages and changes acknowledged, each in one place; "
        "no call ran twice; nothing sent by itself"
        if not tally.problems
        else f"{tally.kills} kills in turns, {len(tally.problems)} problems:\n" + "\n".join(tally.problems)
    )
    say("what was there in the end: " + ", ".join(f"{count} {what}" for what, count in sorted(tally.found.items())))
    return tally.problems


def kill_window(root: Path, kills: int, seed: int) -> list[str]:
    """Kill the real program; return what was wrong."""
    soak = WindowSoak(root, seed, say)
    try:
        soak.run(kills)
    except TimeoutError as error:
        soak.problems.append(str(error))
    say(f"{kills} kills of the window: {'; '.join(soak.problems) or f'{soak.interrupted} replies cut, nothing lost'}")
    return soak.problems


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
