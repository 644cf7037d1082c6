"""What is wrong in a person's profiles never lets one of them do more."""

import pytest

from app.domain.tool_names import EDIT_FILE, READ_FILE, TOOLS
from app.settings.checks import mend
from app.settings.profiles import all_profiles, effect_on, find_profile
from app.settings.schema import Effect, Settings

FAULTS: list[object] = [
    {"pattern": ".*_file", "effect": "denied"},
    {"pattern": ".*_file", "effect": None},
    {"pattern": ["edit_file"], "effect": "deny"},
    {"pattern": "x" * 201, "effect": "deny"},
    {"effect": "deny"},
    "deny .*_file",
    None,
]


def mended(**profile: object) -> tuple[Settings, int]:
    """Return the settings with one profile of a file, and how many faults were told."""
    settings, problems = mend({"agents": {"profiles": [{"id": "mine", "name": "Mine", **profile}]}})
    return settings, len(problems)


def granted(settings: Settings, tool: str) -> Effect:
    profile = find_profile(settings, "mine")
    assert profile is not None
    return effect_on(profile, tool, all_profiles(settings))


@pytest.mark.parametrize("rule", FAULTS)
def test_a_rule_that_is_not_understood_denies_every_tool(rule: object) -> None:
    settings, problems = mended(inherits="assistant", rules=[{"pattern": ".*"}, rule])
    assert problems > 0
    assert {granted(settings, tool.name) for tool in TOOLS} == {"deny"}


def test_rules_behind_it_grant_what_they_say() -> None:
    settings, _ = mended(rules=[{"pattern": ".*_file", "effect": "no"}, {"pattern": READ_FILE, "effect": "allow"}])
    assert (granted(settings, READ_FILE), granted(settings, EDIT_FILE)) == ("allow", "deny")


@pytest.mark.parametrize("rules", ["deny", {"pattern": ".*"}, 3, None])
def test_rules_that_are_no_list_grant_nothing_that_is_inherited(rules: object) -> None:
    settings, problems = mended(inherits="assistant", rules=rules)
    assert problems > 0
    assert granted(settings, EDIT_FILE) == "deny"


def test_what_else_the_profile_says_stays() -> None:
    settings, _ = mended(instructions="Be brief.", rules=[{"pattern": ".*", "effect": "all"}])
    profile = find_profile(settings, "mine")
    assert profile is not None
    assert (profile.name, profile.instructions) == ("Mine", "Be brief.")


def test_every_fault_of_a_profile_is_told_in_words() -> None:
    rules = [{"pattern": 1, "effect": "deny"}, {"pattern": ".*", "effect": "ask"}]
    _, problems = mend({"agents": {"profiles": [{"id": "mine", "name": "Mine", "instructions": 4, "rules": rules}]}})
    assert [problem.text for problem in problems] == [
        "The instructions of a profile must be text.",
        "The pattern of a rule of a profile must be text.",
        "What a rule of a profile grants must be one of these: 'allow', 'read' or 'deny'.",
    ]
