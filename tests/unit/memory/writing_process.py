"""Another program at the same memories: `python -m tests.unit.memory.writing_process ROOT ORDER`.

`add LETTER COUNT` puts a letter behind what is there so many times; `forever` writes whole texts until it is killed;
`full` tries to write more than it may.
"""

import sys
from pathlib import Path

from app.domain.errors import KnownError
from app.domain.memories import MemoryScope
from app.memory.faults import MemoryChanged
from app.memory.paths import parse_path
from app.memory.store import MemoryStore

PATH = parse_path("/memories/global/shared.md")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _add(store: MemoryStore, letter: str, count: int) -> None:
    for _ in range(count):
        while True:
            before = store.read(PATH)
            try:
                store.put(PATH, before.text + letter, expected=before.version)
            except MemoryChanged:
                continue
            break


def _write_forever(store: MemoryStore) -> None:
    number = 0
    while True:
        letter = LETTERS[number % len(LETTERS)]
        store.put(PATH, letter * 50_000, expected=None)
        store.pin(PATH, on=number % 2 == 0)
        number += 1
        if number == 3:
            sys.stdout.write("writing\n")
            sys.stdout.flush()


def _fill(store: MemoryStore) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
    try:
        store.put(PATH, "x" * 5_000, expected=None)
    except KnownError as error:
        sys.stdout.write(str(error))


if __name__ == "__main__":
    root, order, *rest = sys.argv[1:]
    store = MemoryStore(Path(root), MemoryScope.GLOBAL)
    if order == "add":
        _add(store, rest[0], int(rest[1]))
    elif order == "forever":
        _write_forever(store)
    else:
        _fill(store)
