"""Profiles without a window: what they grant, what is wrong with them, how they change."""

import pytest

from app.domain.tool_names import (
    EDIT_FILE,
    LIST_FILES,
    MEMORY,
    READ_FILE,
    SEARCH_FILES,
    TOOLS,
    WRITE_FILE,
)
from app.domain.windows import SESSION_HISTORY
from app.settings.profiles import ASSISTANT, BUILT_IN, PLANNER, READER, effect_on
from app.settings.schema import Agents, Effect, Profile, Rule, Settings
from app.ui.settings.agents_edits import (
    MAX_NAME,
    add_profile,
    change_profile,
    choosable,
    copy_of,
    free_shadowed,
    is_name_taken,
    own_profile,
    remove_profile,
    shadowed,
)
from app.ui.settings.agents_granted import (
    BrokenLineage,
    Holds,
    broken_lineage,
    has_pattern_for,
    holds,
    is_pattern,
    meant_by,
    own_effect,
    possible_parents,
    with_effect,
)
from app.ui.settings.agents_wording import lineage_text, pattern_text, profile_text
from app.ui.tool_wording import tool_label, tool_sentence


def profile(profile_id: str, *rules: tuple[str, Effect], inherits: str = "", name: str = "") -> Profile:
    made = tuple(Rule(pattern=pattern, effect=effect) for pattern, effect in rules)
    return Profile(id=profile_id, name=name or profile_id.capitalize(), inherits=inherits, rules=made)


def settings(*profiles: Profile, default: str = "") -> Settings:
    return Settings(agents=Agents(profiles=profiles, default_profile=default))


def granted(one: Profile, *others: Profile) -> dict[str, Holds]:
    return {tool.name: holds(one, tool, (*BUILT_IN, *others, one)) for tool in TOOLS}


# What a profile may do


def test_the_built_in_profiles_grant_what_the_specification_says() -> None:
    reading = dict.fromkeys((SESSION_HISTORY, LIST_FILES, READ_FILE, SEARCH_FILES), Holds.ALLOWED)
    assert granted(ASSISTANT) == {
        **reading,
        MEMORY: Holds.ALLOWED,
        WRITE_FILE: Holds.ASKS,
        EDIT_FILE: Holds.ASKS,
    }
    denied = {WRITE_FILE: Holds.DENIED, EDIT_FILE: Holds.DENIED}
    assert granted(PLANNER) == {**reading, MEMORY: Holds.ALLOWED, **denied}
    assert granted(READER) == {**reading, MEMORY: Holds.READING, **denied}


def test_a_profile_without_rules_may_do_nothing() -> None:
    assert set(granted(profile("bare")).values()) == {Holds.DENIED}


def test_reading_only_leaves_nothing_of_a_tool_that_only_changes_things() -> None:
    found = granted(profile("looker", (".*", "read")))
    assert found[READ_FILE] is Holds.ALLOWED
    assert found[MEMORY] is Holds.READING
    assert found[WRITE_FILE] is Holds.DENIED


def test_a_choice_for_a_tool_is_a_rule_of_its_own_at_the_end() -> None:
    rules = (Rule(pattern=WRITE_FILE, effect="allow"), Rule(pattern=".*", effect="deny"))
    chosen = with_effect(rules, WRITE_FILE, "allow")
    assert [(rule.pattern, rule.effect) for rule in chosen] == [(".*", "deny"), (WRITE_FILE, "allow")]
    assert own_effect(chosen, WRITE_FILE) == "allow"
    left = with_effect(chosen, WRITE_FILE, None)
    assert left == (Rule(pattern=".*", effect="deny"),)
    assert own_effect(left, WRITE_FILE) is None
    assert has_pattern_for(left, WRITE_FILE)


@pytest.mark.parametrize("pattern", ["(", "[a", "*x", "a{99999999999999999999}", "(?P<x"])
def test_a_pattern_that_is_none_is_said_so_and_grants_nothing(pattern: str) -> None:
    assert not is_pattern(pattern)
    assert "no valid pattern" in pattern_text(pattern)
    assert effect_on(profile("odd", (pattern, "allow")), WRITE_FILE, ()) == "deny"


def test_a_pattern_is_told_in_the_names_of_tools() -> None:
    assert meant_by("write_file|edit_file") == (WRITE_FILE, EDIT_FILE)
    assert pattern_text(READ_FILE) == "Means: Read a file."
    assert pattern_text(".*") == "Means every tool."
    assert pattern_text("read") == "No tool that there is now has such a name."
    assert "Write the name" in pattern_text("")


def test_every_tool_has_a_name_and_a_sentence() -> None:
    for tool in TOOLS:
        assert tool_label(tool.name) != tool.name
        assert tool_sentence(tool.name).endswith(".")
    assert (tool_label("other_tool"), tool_sentence("other_tool")) == ("other_tool", "")


# What it builds on


def test_a_profile_that_builds_on_one_that_is_gone_is_named() -> None:
    lost = profile("lost", (".*", "allow"), inherits="gone")
    broken = broken_lineage(lost, (*BUILT_IN, lost))
    assert broken == BrokenLineage(missing="gone")
    assert "gone" in lineage_text(broken)
    assert set(granted(lost).values()) == {Holds.DENIED}


def test_a_circle_is_told_by_its_names_also_from_outside_it() -> None:
    one, two = profile("one", inherits="two"), profile("two", (".*", "allow"), inherits="one")
    outside = profile("outside", inherits="one")
    everybody = (*BUILT_IN, one, two, outside)
    assert "One → Two → One" in lineage_text(broken_lineage(one, everybody))
    assert broken_lineage(outside, everybody) == BrokenLineage(circle=(one, two))
    assert "One → Two → One" in profile_text(outside, everybody)


def test_a_profile_that_builds_on_itself_is_a_circle_of_one() -> None:
    alone = profile("alone", inherits="alone")
    assert "Alone → Alone" in lineage_text(broken_lineage(alone, (alone,)))


def test_only_what_leads_to_no_circle_can_be_built_on() -> None:
    base, middle, top = profile("base"), profile("middle", inherits="base"), profile("top", inherits="middle")
    everybody = (*BUILT_IN, base, middle, top)
    assert [each.id for each in possible_parents(base, everybody)] == ["assistant", "planner", "reader"]
    assert [each.id for each in possible_parents(middle, everybody)] == ["assistant", "planner", "reader", "base"]


# Changing them


def test_a_copy_has_a_name_and_an_id_of_its_own() -> None:
    held = settings(profile("reader-copy", name="Reader (copy)"))
    made = copy_of(READER, "Reader (copy)", held)
    assert (made.id, made.name) == ("reader-copy-2", "Reader (copy) 2")
    assert made.rules == READER.rules
    assert copy_of(READER, "Übersetzer", held).id == "bersetzer"
    assert copy_of(READER, "読む人", held).id == "profile"


def test_a_copy_never_has_the_id_of_a_built_in_profile() -> None:
    made = copy_of(PLANNER, "Planner", settings())
    assert (made.id, made.name) == ("planner-2", "Planner 2")


def test_a_long_name_leaves_room_for_the_number() -> None:
    name = "n" * MAX_NAME
    made = copy_of(READER, name, settings(profile("n", name=name)))
    assert len(made.name) == MAX_NAME
    assert made.name.endswith(" 2")


def test_names_are_compared_without_case() -> None:
    held = settings(profile("editor"))
    assert is_name_taken("EDITOR", "other", held)
    assert is_name_taken("assistant", "editor", held)
    assert not is_name_taken("editor", "editor", held)


def test_profiles_are_added_changed_and_removed() -> None:
    editor = profile("editor")
    held = add_profile(editor)(settings())
    assert add_profile(profile("editor", name="Another"))(held) == held
    assert add_profile(profile("reader"))(held) == held
    held = change_profile("editor", name="Corrector")(held)
    changed = own_profile(held, "editor")
    assert changed is not None
    assert changed.name == "Corrector"
    assert change_profile("gone", name="x")(held) == held
    held = held.model_copy(update={"agents": held.agents.model_copy(update={"default_profile": "editor"})})
    held = remove_profile("editor")(held)
    assert (held.agents.profiles, held.agents.default_profile) == ((), "")


def test_profiles_with_the_id_of_another_get_one_of_their_own() -> None:
    first, second, third = profile("editor"), profile("editor", name="Second"), profile("reader", name="Editor")
    held = settings(first, second, third)
    assert shadowed(held) == (second, third)
    assert [each.name for each in choosable(held)] == ["Assistant", "Planner", "Reader", "Editor"]
    mended = free_shadowed(held)
    assert [each.id for each in mended.agents.profiles] == ["editor", "second", "editor-2"]
    assert shadowed(mended) == ()


def test_a_change_leaves_the_profiles_alone_that_have_the_same_id() -> None:
    first, second = profile("editor"), profile("editor", name="Second")
    held = change_profile("editor", name="First")(settings(first, second))
    assert [each.name for each in held.agents.profiles] == ["First", "Second"]
    assert remove_profile("editor")(settings(first, second)).agents.profiles == (second,)
