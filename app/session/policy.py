"""Who answers in a chat and what that one may call: profile, folder, experiments. See context-windows.md, 14. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.models import ModelCard
from app.domain.tool_names import EDIT_FILE, LIST_FILES, MEMORY, READ_FILE, SEARCH_FILES, TOOLS, WRITE_FILE, ToolKind
from app.domain.windows import SESSION_HISTORY
from app.session.inputs import Refused
from app.settings.profiles import all_profiles, effect_on, find_profile
from app.settings.schema import Profile, Settings
from app.tools.base import Tool

FOLDER_TOOLS: Final = frozenset({LIST_FILES, READ_FILE, SEARCH_FILES, WRITE_FILE, EDIT_FILE})
"""Those that work in the folder of a chat; without one nobody is told of them."""
_WRITERS: Final = frozenset(tool.name for tool in TOOLS if tool.kind is ToolKind.ASKS)
"""Tools without a call that only reads."""
_PRACTICE: Final = "practice"
"""Provider of the built-in model, which shows what a tool is at no cost."""


@dataclass(frozen=True, slots=True)
class Toolset:
    """What a model is told of, in every step of a turn."""

    tools: tuple[Tool, ...] = ()
    reading: frozenset[str] = frozenset()
    """Names of those of which only calls that change nothing are run."""


def chosen_profile(settings: Settings, profile_id: str) -> Profile | Refused:
    """Return who answers in a chat with this profile, empty for that of new chats; or that it is gone."""
    profile = find_profile(settings, profile_id)
    if profile is not None:
        return profile
    if profile_id:
        return Refused(
            f"The profile “{profile_id}” is not there any more. Choose another profile for this chat and send again."
        )
    return Refused(
        f"The profile for new chats, “{settings.agents.default_profile}”, is not there any more. Choose a profile for"
        " this chat, or another one for new chats in the settings."
    )


def offer_tools(
    tools: Sequence[Tool], card: ModelCard, settings: Settings, profile: Profile, *, has_folder: bool
) -> Toolset:
    """Return those of a chat's tools that a model is told of; none if it is known to call none."""
    if card.abilities.calls_tools is False:
        return Toolset()
    profiles = all_profiles(settings)
    offered: list[Tool] = []
    reading: set[str] = set()
    for tool in tools:
        name = tool.spec.name
        effect = effect_on(profile, name, profiles)
        if effect == "deny" or not _is_there(name, card, settings, has_folder=has_folder):
            continue
        if effect == "read":
            if name in _WRITERS:
                continue
            reading.add(name)
        offered.append(tool)
    return Toolset(tuple(offered), frozenset(reading))


def may_remember(settings: Settings, profile: Profile) -> bool:
    """Whether a profile may read the memory at all, so that some of it may be put before the model."""
    return effect_on(profile, MEMORY, all_profiles(settings)) != "deny"


def _is_there(name: str, card: ModelCard, settings: Settings, *, has_folder: bool) -> bool:
    """Whether a chat has this tool now; an experiment that is off never takes it from the Practice model."""
    if name == SESSION_HISTORY:
        return settings.experiments.token_budget_windows or card.provider == _PRACTICE
    if name == MEMORY:
        return settings.experiments.agent_memory or card.provider == _PRACTICE
    return has_folder or name not in FOLDER_TOOLS
