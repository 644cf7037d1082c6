"""`make bench`: measures, and writes docs/performance.md. Nothing here passes or fails."""

import argparse
import sys
from pathlib import Path

from tests.benchmarks import measures
from tests.benchmarks.machine import describe
from tests.benchmarks.memory import measure_memory
from tests.benchmarks.report import Figure, write_report
from tests.benchmarks.searching import measure_searching

REPORT = Path(__file__).parents[2] / "docs" / "performance.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--output", type=Path, default=REPORT, metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    parser.add_argument(
        "--only", nargs="*", metavar="WHAT", help="start memory opening streaming tools append searching"
    )
    arguments = parser.parse_args()
    machine = describe()
    is_quick: bool = arguments.quick
    measuring = {
        "start": lambda: measures.measure_start(3 if is_quick else 9),
        "memory": lambda: measure_memory(2 if is_quick else 7),
        "opening": lambda: measures.measure_opening(2 if is_quick else 7),
        "streaming": lambda: measures.measure_streaming(4 if is_quick else 12),
        "tools": lambda: measures.measure_tools(4 if is_quick else 12),
        "searching": lambda: measure_searching(1 if is_quick else 5),
        "append": lambda: measures.measure_append(50 if is_quick else 300),
    }
    figures: list[Figure] = []
    for name, measure in measuring.items():
        if arguments.only is None or name in arguments.only:
            sys.stdout.write(f"measuring {name} …\n")
            sys.stdout.flush()
            figures += measure()
    report = write_report(machine, figures)
    arguments.output.write_text(report, "utf-8")
    sys.stdout.write(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
