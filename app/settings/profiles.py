"""Profiles: the built-in ones, and what a policy grants. Pure. See context-windows.md, 14."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from app.settings.schema import Effect, Profile, Rule, Settings

_WRITERS: Final = Rule(pattern="write_file|edit_file", effect="deny")
ASSISTANT: Final = Profile(id="assistant", name="Assistant", rules=(Rule(pattern=".*"),))
PLANNER: Final = Profile(
    id="planner",
    name="Planner",
    instructions=(
        "You plan; you do not carry out. Find out what there is, think it through, and answer with a plan of numbered"
        " steps that somebody else can follow. Say what is uncertain."
    ),
    rules=(Rule(pattern=".*"), _WRITERS),
)
READER: Final = Profile(
    id="reader",
    name="Reader",
    instructions=(
        "You read and explain. Answer from what you find in the files and the chat, say where it stands, and say so"
        " when it is not there."
    ),
    inherits=ASSISTANT.id,
    rules=(_WRITERS, Rule(pattern="memory", effect="read")),
)
BUILT_IN: Final = (ASSISTANT, PLANNER, READER)


def all_profiles(settings: Settings) -> tuple[Profile, ...]:
    """Return the built-in profiles and then the person's own; an own one never takes a built-in one's id."""
    taken = {profile.id for profile in BUILT_IN}
    return (*BUILT_IN, *(profile for profile in settings.agents.profiles if profile.id not in taken))


def find_profile(settings: Settings, profile_id: str) -> Profile | None:
    """Return the profile of a chat, that of new chats for an empty id; None if it is gone."""
    wanted = profile_id or settings.agents.default_profile or ASSISTANT.id
    return next((profile for profile in all_profiles(settings) if profile.id == wanted), None)


def effect_on(profile: Profile, tool: str, profiles: Sequence[Profile]) -> Effect:
    """Return what `profile` grants of a tool: the last rule that matches its whole name, `deny` if none does.

    Inherited rules come first. A profile whose ancestry is broken, by a missing one or in a circle, grants nothing.
    """
    effect: Effect = "deny"
    try:
        lineage = list(_lineage(profile, profiles))
    except LookupError:
        return "deny"
    for rule in (rule for each in reversed(lineage) for rule in each.rules):
        if matches(rule.pattern, tool):
            effect = rule.effect
    return effect


def instructions_of(profile: Profile, profiles: Sequence[Profile]) -> str:
    """Return inherited and own instructions, joined by a blank line."""
    try:
        lineage = list(_lineage(profile, profiles))
    except LookupError:
        lineage = [profile]
    return "\n\n".join(text for each in reversed(lineage) if (text := each.instructions.strip()))


def matches(pattern: str, tool: str) -> bool:
    """Whether a rule's pattern means this tool; one that is no regular expression means none."""
    try:
        return re.fullmatch(pattern, tool) is not None
    except (re.error, OverflowError, RecursionError):
        return False


def _lineage(profile: Profile, profiles: Sequence[Profile]) -> Iterator[Profile]:
    """Yield a profile and those it inherits from. Raises LookupError if one is missing or comes twice."""
    seen: set[str] = set()
    current: Profile | None = profile
    while current is not None:
        if current.id in seen:
            raise LookupError(current.id)
        seen.add(current.id)
        yield current
        if not current.inherits:
            return
        wanted = current.inherits
        current = next((each for each in profiles if each.id == wanted), None)
        if current is None:
            raise LookupError(wanted)
