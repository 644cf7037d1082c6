"""What is said of profiles: what holds for a tool, what a rule means, what is wrong."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QCoreApplication

from app.domain.tool_names import TOOLS
from app.settings.profiles import BUILT_IN
from app.settings.schema import Effect, Profile
from app.ui.settings.agents_granted import BrokenLineage, Holds, broken_lineage, holds, is_pattern, meant_by
from app.ui.tool_wording import tool_label

_MOST_SAID: Final = 120
"""Characters of the instructions that stand in the list."""


def holds_text(holds: Holds) -> str:
    """Return what holds for a tool, in a word or two."""
    texts = {
        Holds.ALLOWED: _tr("allowed"),
        Holds.ASKS: _tr("asks first"),
        Holds.READING: _tr("reading only"),
        Holds.DENIED: _tr("not allowed"),
    }
    return texts[holds]


def effect_text(effect: Effect) -> str:
    """Return what a rule grants."""
    texts: dict[Effect, str] = {
        "allow": _tr("Allowed"),
        "read": _tr("Reading only"),
        "deny": _tr("Not allowed"),
    }
    return texts[effect]


def pattern_text(pattern: str) -> str:
    """Return what the pattern of a rule means, or that it means nothing."""
    if not pattern:
        return _tr("Write the name of a tool, or a pattern: .*_file means every tool whose name ends in _file.")
    if not is_pattern(pattern):
        return _tr("This is no valid pattern (regular expression), so the rule grants nothing.")
    meant = meant_by(pattern)
    if not meant:
        return _tr("No tool that there is now has such a name.")
    if len(meant) == len(TOOLS):
        return _tr("Means every tool.")
    return _tr("Means: {tools}.").format(tools=", ".join(tool_label(name) for name in meant))


def lineage_text(broken: BrokenLineage | None) -> str:
    """Return what is wrong with what a profile builds on; empty if nothing is."""
    if broken is None:
        return ""
    if broken.missing:
        text = _tr("It builds on a profile that is gone ({id}), so it may do nothing until it builds on another one.")
        return text.format(id=broken.missing)
    names = [each.name for each in broken.circle]
    text = _tr("These build on each other in a circle: {names}. None of them may do anything until that is changed.")
    return text.format(names=" → ".join([*names, names[0]]))


def profile_text(profile: Profile, profiles: Sequence[Profile]) -> str:
    """Return one line about a profile in the list."""
    if broken := lineage_text(broken_lineage(profile, profiles)):
        return broken
    parts = [_tr("Built in") if any(each.id == profile.id for each in BUILT_IN) else _tr("Your own")]
    parent = next((each for each in profiles if profile.inherits and each.id == profile.inherits), None)
    if parent is not None:
        parts.append(_tr("builds on {name}").format(name=parent.name))
    said = " ".join(profile.instructions.split())
    if all(holds(profile, tool, profiles) is not Holds.DENIED for tool in TOOLS):
        parts.append(_tr("may use every tool"))
    if said:
        parts.append(_beginning(said))
    return "  ·  ".join(parts)


def _beginning(text: str) -> str:
    """Return as many whole words as the list has room for; of scripts without spaces, as many signs."""
    if len(text) <= _MOST_SAID:
        return text
    cut = text[: _MOST_SAID + 1]
    whole = cut.rpartition(" ")[0] if " " in cut[_MOST_SAID // 2 :] else cut[:-1]
    return f"{whole.rstrip(' ,;:.')}…"


def _tr(text: str) -> str:
    return QCoreApplication.translate("Settings", text)
