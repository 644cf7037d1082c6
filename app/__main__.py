"""Starts Muntin: reads the command line, says early what can't work, runs the program."""

import argparse
import gc
import logging
import math
import os
import sys
from pathlib import Path
from typing import Final

from app import APP_NAME, VERSION

EXIT_NO_DISPLAY: Final = 2


def main() -> int:
    """Run the program; return its exit code."""
    # Nothing that is built while starting is garbage; see app/ui/garbage.py.
    gc.disable()
    arguments, for_qt = _parser().parse_known_args()
    is_doctor = "doctor" in for_qt
    data_dir = _data_dir(arguments.data_dir)
    if arguments.offline:
        from app.offline import refuse_network

        refuse_network()
    if is_doctor:
        from app.doctor import examine

        return examine(data_dir)
    return _run(arguments, data_dir, for_qt)


def _run(arguments: argparse.Namespace, data_dir: Path, for_qt: list[str]) -> int:
    from app.crash import CrashReporter
    from app.display import NO_DISPLAY, has_display
    from app.logs import Log

    if not has_display():
        print(NO_DISPLAY, file=sys.stderr)  # noqa: T201 - nothing else can show it
        return EXIT_NO_DISPLAY
    from app.bootstrap import Options, run

    options = Options(
        data_dir=data_dir,
        words_per_second=arguments.practice_speed,
        is_new_instance=arguments.new_instance,
    )
    return run(options, [sys.argv[0], *for_qt], Log(data_dir), CrashReporter(data_dir))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="muntin",
        description="A desktop chat with AI models whose context windows roll over.",
        epilog="muntin doctor: say what works on this computer and what doesn't, and end.",
    )
    parser.add_argument("--version", action="version", version=f"{APP_NAME} {VERSION}")
    parser.add_argument(
        "--data-dir", type=Path, metavar="FOLDER", help="keep chats and settings here (also: MUNTIN_DATA_DIR)"
    )
    parser.add_argument("--offline", action="store_true", help="refuse every connection to another computer")
    parser.add_argument("--new-instance", action="store_true", help="start a second Muntin on the same data folder")
    parser.add_argument(
        "--practice-speed",
        type=_words_per_second,
        default=40.0,
        metavar="N",
        help="words a second the Practice model writes (default 40; 0 for all at once)",
    )
    return parser


def _words_per_second(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value or math.inf


def _data_dir(chosen: Path | None) -> Path:
    if chosen is not None:
        return chosen.expanduser().absolute()
    from_environment = os.environ.get("MUNTIN_DATA_DIR")
    if from_environment:
        return Path(from_environment).expanduser().absolute()
    import platformdirs

    return platformdirs.user_data_path(APP_NAME, appauthor=False)


def start() -> None:
    """Entry of `python -m app`: leaves without waiting for threads that are stuck in the system."""
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    logging.shutdown()
    os._exit(code)


if __name__ == "__main__":
    start()
