"""What a profile may do, tool by tool, and what its rules and its ancestry have wrong. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.domain.tool_names import TOOLS, KnownTool, ToolKind
from app.settings.profiles import effect_on, matches
from app.settings.schema import Effect, Profile, Rule


class Holds(StrEnum):
    """What comes of a call of a tool."""

    ALLOWED = "allowed"
    ASKS = "asks"
    READING = "reading"
    """Calls that change nothing are run, others are not."""
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class BrokenLineage:
    """Why a profile grants nothing: one that it builds on is gone, or it builds on itself in the end."""

    missing: str = ""
    """Id of the one that is gone."""
    circle: tuple[Profile, ...] = ()
    """Those that build on each other, in their order."""


_OF_EFFECT: Final[dict[tuple[Effect, ToolKind], Holds]] = {
    ("allow", ToolKind.READS): Holds.ALLOWED,
    ("allow", ToolKind.ASKS): Holds.ASKS,
    ("allow", ToolKind.MIXED): Holds.ALLOWED,
    ("read", ToolKind.READS): Holds.ALLOWED,
    ("read", ToolKind.ASKS): Holds.DENIED,
    ("read", ToolKind.MIXED): Holds.READING,
}


def holds(profile: Profile, tool: KnownTool, profiles: Sequence[Profile]) -> Holds:
    """Return what holds for a tool in the end."""
    return _OF_EFFECT.get((effect_on(profile, tool.name, profiles), tool.kind), Holds.DENIED)


def own_effect(rules: Sequence[Rule], tool: str) -> Effect | None:
    """Return what the last rule says that names just this tool, None without one."""
    return next((rule.effect for rule in reversed(rules) if rule.pattern == tool), None)


def with_effect(rules: Sequence[Rule], tool: str, effect: Effect | None) -> tuple[Rule, ...]:
    """Return `rules` with one at the end that names just this tool, or with none."""
    others = tuple(rule for rule in rules if rule.pattern != tool)
    return others if effect is None else (*others, Rule(pattern=tool, effect=effect))


def has_pattern_for(rules: Sequence[Rule], tool: str) -> bool:
    """Whether a rule means this tool among others."""
    return any(rule.pattern != tool and matches(rule.pattern, tool) for rule in rules)


def is_pattern(text: str) -> bool:
    """Whether a text is a regular expression."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def meant_by(pattern: str) -> tuple[str, ...]:
    """Return the names of the tools that a rule is about."""
    return tuple(tool.name for tool in TOOLS if matches(pattern, tool.name))


def broken_lineage(profile: Profile, profiles: Sequence[Profile]) -> BrokenLineage | None:
    """Return what is wrong with the ancestry of a profile, None if nothing is."""
    line = [profile]
    while wanted := line[-1].inherits:
        at = next((at for at, each in enumerate(line) if each.id == wanted), None)
        if at is not None:
            return BrokenLineage(circle=tuple(line[at:]))
        parent = next((each for each in profiles if each.id == wanted), None)
        if parent is None:
            return BrokenLineage(missing=wanted)
        line.append(parent)
    return None


def possible_parents(profile: Profile, profiles: Sequence[Profile]) -> tuple[Profile, ...]:
    """Return what a profile may build on without coming back to itself."""
    others = [each for each in profiles if each.id != profile.id]
    return tuple(each for each in others if broken_lineage(each, others) is None)
