"""Figures as a document."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

REASONS = Path(__file__).with_name("reasons.toml")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value, what it may be at most, and what a bare program needs, all in `unit`."""

    key: str
    what: str
    value: float
    limit: float | None
    unit: str
    floor: float | None
    detail: str = ""

    @property
    def is_missed(self) -> bool:
        return self.limit is not None and self.value > self.limit


def write_report(machine: list[str], figures: list[Figure]) -> str:
    """Return the document: machine, table, and why what misses does."""
    missed = [figure for figure in figures if figure.is_missed]
    verdict = f"{len(missed)} of them are missed, see below." if missed else "All of them are held."
    return "\n".join(
        [
            "# Performance",
            "",
            "Written by `make bench`. Times are medians of several runs unless the line says otherwise. The floor is",
            "what a bare program needs for the same on the same machine in the same minutes: a window of PySide6 with",
            "nothing in it, reading and parsing the last page of a file, writing and fsyncing the same bytes.",
            "",
            *(f"- {line}" for line in machine),
            "",
            "| what | at most | measured | floor | ratio | |",
            "|---|---:|---:|---:|---:|---|",
            *(_line(figure) for figure in figures),
            "",
            f"Figures with a limit are promises. {verdict}",
            *_misses(missed),
            "",
        ]
    )


def _line(figure: Figure) -> str:
    limit = _number(figure.limit, figure.unit) if figure.limit is not None else "–"
    floor = _number(figure.floor, figure.unit) if figure.floor is not None else "–"
    ratio = f"{figure.value / figure.floor:.1f}" if figure.floor else "–"
    measured = _number(figure.value, figure.unit)
    if figure.is_missed:
        measured = f"**{measured}**"
    return f"| {figure.what} | {limit} | {measured} | {floor} | {ratio} | {figure.detail} |"


def _number(value: float, unit: str) -> str:
    match unit:
        case "s":
            return f"{value:.2f} s"
        case "ms":
            return f"{value:.1f} ms"
        case _:
            return f"{value:.0f} {unit}"


def _misses(missed: list[Figure]) -> list[str]:
    """Say by how much each is missed, and why as far as somebody has found out."""
    if not missed:
        return []
    reasons = tomllib.loads(REASONS.read_text("utf-8"))
    lines = ["", "## What misses, and why", ""]
    for figure in missed:
        assert figure.limit is not None
        over = _number(figure.value - figure.limit, figure.unit)
        lines.append(f"- **{figure.what}**: {over} over. {reasons.get(figure.key, 'The reason is not known yet.')}")
    return lines
