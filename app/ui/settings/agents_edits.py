"""Changes of the profiles, as pure functions of the settings that hold."""

from collections.abc import Collection
from typing import Final

from app.settings.profiles import BUILT_IN, all_profiles
from app.settings.schema import Edit, Effect, Profile, Settings
from app.ui.settings.agents_granted import with_effect
from app.ui.settings.edits import change_part, free_among

MAX_NAME: Final = 60
"""Characters of a profile's name, as the schema has it."""
_OF_BUILT_IN: Final = frozenset(profile.id for profile in BUILT_IN)


def is_built_in(profile_id: str) -> bool:
    """Whether nobody can change a profile."""
    return profile_id in _OF_BUILT_IN


def own_profile(settings: Settings, profile_id: str) -> Profile | None:
    """Return a profile that can be changed."""
    return next((each for each in usable(settings) if each.id == profile_id), None)


def usable(settings: Settings) -> tuple[Profile, ...]:
    """Return the person's own profiles without those whose id another one has."""
    first = {each.id: each for each in reversed(settings.agents.profiles) if not is_built_in(each.id)}
    return tuple(each for each in settings.agents.profiles if each is first.get(each.id))


def choosable(settings: Settings) -> tuple[Profile, ...]:
    """Return every profile that can be chosen: those built in and the person's own."""
    own = usable(settings)
    return tuple(each for each in all_profiles(settings) if is_built_in(each.id) or any(each is one for one in own))


def shadowed(settings: Settings) -> tuple[Profile, ...]:
    """Return the profiles that can't be chosen because another has their id; only a file edited by hand has them."""
    own = usable(settings)
    return tuple(each for each in settings.agents.profiles if not any(each is one for one in own))


def free_shadowed(settings: Settings) -> Settings:
    """Give every profile whose id another one has an id of its own."""
    hidden = shadowed(settings)
    taken = {each.id for each in (*BUILT_IN, *settings.agents.profiles)}
    profiles = []
    for profile in settings.agents.profiles:
        if any(profile is each for each in hidden):
            profile = profile.model_copy(update={"id": free_among(profile.name, taken, otherwise="profile")})  # noqa: PLW2901
            taken.add(profile.id)
        profiles.append(profile)
    return change_part("agents", profiles=tuple(profiles))(settings)


def copy_of(profile: Profile, name: str, settings: Settings) -> Profile:
    """Return a profile like another, with an id and a name that no other has; `name` is the wanted one."""
    taken = {each.id for each in (*BUILT_IN, *settings.agents.profiles)}
    free = _free_name(name, {each.name.casefold() for each in choosable(settings)})
    return profile.model_copy(update={"id": free_among(free, taken, otherwise="profile"), "name": free})


def is_name_taken(name: str, profile_id: str, settings: Settings) -> bool:
    """Whether another profile is called that."""
    return any(each.name.casefold() == name.casefold() for each in choosable(settings) if each.id != profile_id)


def add_profile(profile: Profile) -> Edit:
    """Return an edit that adds a profile, unless one of that id is there."""

    def edit(settings: Settings) -> Settings:
        if is_built_in(profile.id) or own_profile(settings, profile.id) is not None:
            return settings
        return change_part("agents", profiles=(*settings.agents.profiles, profile))(settings)

    return edit


def change_profile(profile_id: str, **values: object) -> Edit:
    """Return an edit that sets fields of one of the person's profiles; one that is gone stays gone."""

    def edit(settings: Settings) -> Settings:
        wanted = own_profile(settings, profile_id)
        changed = tuple(each.model_copy(update=values) if each is wanted else each for each in settings.agents.profiles)
        return change_part("agents", profiles=changed)(settings)

    return edit


def set_effect(profile_id: str, tool: str, effect: Effect | None) -> Edit:
    """Return an edit that sets what one of the person's profiles says of just one tool, None for nothing."""

    def edit(settings: Settings) -> Settings:
        profile = own_profile(settings, profile_id)
        rules = with_effect(profile.rules, tool, effect) if profile is not None else ()
        return change_profile(profile_id, rules=rules)(settings)

    return edit


def remove_profile(profile_id: str) -> Edit:
    """Return an edit that removes a profile; new chats get Assistant if it was theirs."""

    def edit(settings: Settings) -> Settings:
        wanted = own_profile(settings, profile_id)
        agents = settings.agents
        default = "" if wanted is not None and agents.default_profile == profile_id else agents.default_profile
        left = tuple(each for each in agents.profiles if each is not wanted)
        return change_part("agents", profiles=left, default_profile=default)(settings)

    return edit


def _free_name(name: str, taken: Collection[str]) -> str:
    number = 1
    wanted = name[:MAX_NAME]
    while wanted.casefold() in taken:
        number += 1
        ending = f" {number}"
        wanted = name[: MAX_NAME - len(ending)] + ending
    return wanted
