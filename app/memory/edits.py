"""Changes of a memory's text, as pure functions. What can't be done is a MemoryFault that says what to do instead."""

from app.memory.faults import MemoryFault


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as a model counts them: an end of line at the very end begins no further one."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def replace_once(text: str, old: str, new: str) -> str:
    """Return `text` with `old`, which must stand in it exactly once, replaced."""
    if not old:
        raise MemoryFault("old_str is empty. Give the text to be replaced, exactly as it stands in the file.")
    count = text.count(old)
    if count == 0:
        raise MemoryFault("old_str is not in the file. View the file and copy the text exactly, spaces included.")
    if count > 1:
        numbers = _lines_with(text, old)
        raise MemoryFault(
            f"old_str is in the file {count} times, at lines {numbers}. Give more of the text around it, so that it"
            " is there once."
        )
    return text.replace(old, new)


def insert_lines(text: str, line: int, inserted: str) -> str:
    """Return `text` with `inserted` behind its line number `line`; 0 is before the first."""
    lines = lines_of(text)
    if not 0 <= line <= len(lines):
        raise MemoryFault(
            f"insert_line must be from 0 to {len(lines)}, the number of lines there are: 0 inserts before the first"
            f" line, {len(lines)} after the last."
        )
    lines[line:line] = inserted.removesuffix("\n").split("\n")
    return "\n".join(lines) + "\n"


def _lines_with(text: str, part: str) -> str:
    numbers: list[str] = []
    at = text.find(part)
    while at >= 0 and len(numbers) < 10:
        numbers.append(str(text.count("\n", 0, at) + 1))
        at = text.find(part, at + 1)
    return ", ".join(numbers)
