"""Whatever is done to a scope in whatever order, it holds what a plain dictionary would."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.file_names import name_key
from app.domain.memories import MemoryScope
from app.memory.faults import MemoryFault
from app.memory.paths import parse_path
from app.memory.store import MemoryStore

NAMES = st.sampled_from(["a", "A", "b", "a/b", "A/B", "b/a", "É", "e\u0301"])
STEPS = st.tuples(st.sampled_from(["put", "put", "put", "rename", "rename", "delete", "undo"]), NAMES, NAMES)


def below(key: str, folder: str) -> bool:
    return key == folder or key.startswith(f"{folder}/")


def expected(held: dict[str, str], step: str, one: str, other: str) -> dict[str, str] | None:
    """Return what a scope holds after a step, None if it is refused."""
    is_file, is_folder = one in held, any(key.startswith(f"{one}/") for key in held)
    is_in_file = any(one.startswith(f"{key}/") for key in held)
    if step == "put":
        return None if is_folder or is_in_file else held | {one: other}
    if step == "undo":
        return held if is_file else None
    if not is_file and not is_folder:
        return None
    rest = {key: text for key, text in held.items() if not below(key, one)}
    if step == "delete":
        return rest
    if one == other:
        return held
    is_taken = any(below(key, other) or other.startswith(f"{key}/") for key in held)
    if is_taken or other.startswith(f"{one}/"):
        return None
    return rest | {other + key[len(one) :]: text for key, text in held.items() if below(key, one)}


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=24))
def test_a_scope_holds_what_was_put_and_not_taken_away(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = MemoryStore(Path(folder) / "memory", MemoryScope.GLOBAL)
        held: dict[str, str] = {}
        for step, one, other in steps:
            path, target = parse_path(f"/memories/global/{one}"), parse_path(f"/memories/global/{other}")
            after = expected(held, step, name_key(one), name_key(other) if step != "put" else other)
            try:
                match step:
                    case "put":
                        store.put(path, other, expected=None)
                    case "delete":
                        store.delete(path)
                    case "rename":
                        store.rename(path, target)
                    case _:
                        store.put_back(store.take(path))
            except MemoryFault:
                assert after is None, (step, one, other, held)
            else:
                assert after is not None, (step, one, other, held)
                held = after
            entries = store.listing().entries
            assert {name_key(entry.name): store.read(parse_path(entry.path)).text for entry in entries} == held
