"""Calls that no linter rule can see: methods of instances, and classes that load what a text names."""

import ast
from pathlib import Path

import pytest

APP = Path(__file__).resolve().parents[2] / "app"

METHODS = {
    "exec": "a nested loop wedges coroutines; use open() and finished, or popup()",
    "exec_": "a nested loop wedges coroutines; use open() and finished, or popup()",
    "processEvents": "a nested loop wedges coroutines; wait for the event instead",
    "create_task": "a task must not fail in silence; use aio.TaskSet.spawn",
    "ensure_future": "a task must not fail in silence; use aio.TaskSet.spawn",
    "getOpenFileName": "a nested loop; use an instance and open()",
    "getSaveFileName": "a nested loop; use an instance and open()",
    "getExistingDirectory": "a nested loop; use an instance and open()",
}
NAMES = {
    "QTextBrowser": "it loads files and follows links; use SafeDocument",
    "QTextEdit": "it loads what pasted rich text names; use QPlainTextEdit",
    "QTextDocument": "it loads files; use SafeDocument",
    "QInputDialog": "a nested loop",
    "QSettings": "everything lies in the data folder",
    "QErrorMessage": "it shows rich text",
}
ALLOWED = {
    ("aio.py", "create_task"),
    ("ui/chat/safe_document.py", "QTextDocument"),
}


def used(path: Path) -> set[tuple[int, str]]:
    found: set[tuple[int, str]] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            found.add((node.lineno, node.func.attr))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
            found.add((node.lineno, node.func.id))
        elif isinstance(node, ast.ClassDef):
            found |= {(node.lineno, base.id) for base in node.bases if isinstance(base, ast.Name) and base.id in NAMES}
    return found


@pytest.mark.parametrize("path", sorted(APP.rglob("*.py")), ids=lambda path: str(path.relative_to(APP)))
def test_no_banned_call(path: Path) -> None:
    where = path.relative_to(APP).as_posix()
    wrong = [
        f"{where}:{line} {name}: {METHODS.get(name) or NAMES[name]}"
        for line, name in sorted(used(path))
        if (where, name) not in ALLOWED
    ]
    assert wrong == []
