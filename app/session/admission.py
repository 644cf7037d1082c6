"""Plan one turn before anything is written: the rows to add and the request to send."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.domain.errors import ProviderError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Flag, Kind, Row, TextPart
from app.domain.text import is_blank
from app.providers.base import Provider
from app.session.assemble import assemble, system_text
from app.session.env import SessionEnv
from app.session.inputs import Choices, Refused, ResumeTurn, UserInput
from app.session.policy import FOLDER_TOOLS, Toolset, chosen_profile, offer_tools
from app.session.state import SessionState
from app.settings.profiles import all_profiles, instructions_of
from app.settings.schema import Profile, Settings
from app.tools.base import Tool

CONTINUE_TEXT: Final = "Please go on exactly where you stopped, without repeating anything."


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all of a turn, whichever model takes its steps."""

    settings: Settings
    profile: Profile
    level: str
    """The one chosen; a model without it is left to its provider's default."""
    folder: str
    tools: tuple[Tool, ...]
    """The chat's; a plan has those that are offered."""


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What a turn will write first and then ask. `rows` may be empty when a request is tried again."""

    turn: str
    rows: tuple[Row, ...]
    request: ModelRequest
    provider: Provider
    card: ModelCard
    terms: Terms
    toolset: Toolset
    instead_of: str | None = None
    """`provider/model` that was asked first, if this plan's model stepped in; `instead_because` says why."""
    instead_because: str | None = None
    preload: str | None = None
    """What stands at the end of the system text; None as long as nobody has looked."""


def plan_turn(
    env: SessionEnv,
    state: SessionState,
    session: str,
    item: UserInput | ResumeTurn,
    *,
    tools: Sequence[Tool] = (),
) -> TurnPlan | Refused:
    """Return what `item` would write and send, or why it can't. `tools` are the chat's. Writes nothing."""
    choices = (item.choices if isinstance(item, UserInput) else None) or _choices_of(state)
    settings = env.settings()
    try:
        provider, card = env.providers.find(choices.model)
    except ProviderError as error:
        return Refused(error.detail)
    profile = chosen_profile(settings, choices.profile)
    if isinstance(profile, Refused):
        return profile
    begun = _begin(env, state, session, item)
    if isinstance(begun, Refused):
        return begun
    turn, rows = begun
    terms = Terms(settings, profile, choices.level, state.meta.folder, tuple(tools))
    toolset = _toolset(terms, card)
    return TurnPlan(turn, rows, _request([*state.window, *rows], card, terms, toolset), provider, card, terms, toolset)


def next_step(plan: TurnPlan, window: Sequence[Row]) -> TurnPlan:
    """Return the plan of the next step: the same turn and model, and the window as it is now."""
    return replace(plan, rows=(), request=_request(window, plan.card, plan.terms, plan.toolset))


def with_fallback(env: SessionEnv, plan: TurnPlan, window: Sequence[Row], *, because: str) -> TurnPlan | None:
    """Return the plan with the fallback model in place of its own; None if there is no other, or it is that already."""
    found = None if plan.instead_of is not None else _fallback(env, plan)
    if found is None:
        return None
    provider, card = found
    toolset = _toolset(plan.terms, card)
    return replace(
        plan,
        rows=(),
        request=_request(window, card, plan.terms, toolset),
        provider=provider,
        card=card,
        toolset=toolset,
        instead_of=plan.card.ref,
        instead_because=because,
        preload=None,
    )


def _fallback(env: SessionEnv, plan: TurnPlan) -> tuple[Provider, ModelCard] | None:
    """Return the fallback model, None if it is not on offer, has no key, or is the plan's own."""
    wanted = plan.terms.settings.agents.fallback_model
    if not wanted or wanted == plan.card.ref:
        return None
    if wanted in {card.ref for card in env.providers.all_models()} - {card.ref for card in env.providers.models()}:
        return None
    try:
        return env.providers.find(wanted)
    except ProviderError:
        return None


def _choices_of(state: SessionState) -> Choices:
    return Choices(state.meta.model, state.meta.level, state.meta.profile)


def _begin(
    env: SessionEnv, state: SessionState, session: str, item: UserInput | ResumeTurn
) -> tuple[str, tuple[Row, ...]] | Refused:
    """Return the turn and the rows it begins, or goes on, with."""
    if isinstance(item, UserInput):
        if is_blank(item.text) and not item.attachments:
            return Refused("There is nothing to send yet.")
        return item.id, (_user_row(env, session, item),)
    opened = state.open_turn()
    if opened is None:
        return Refused("This reply is complete; there is nothing to continue.")
    return opened.turn, (_continue_row(env, session, opened.turn),) if opened.has_words else ()


def _toolset(terms: Terms, card: ModelCard) -> Toolset:
    return offer_tools(terms.tools, card, terms.settings, terms.profile, has_folder=bool(terms.folder))


def _request(window: Sequence[Row], card: ModelCard, terms: Terms, toolset: Toolset) -> ModelRequest:
    has_folder = any(tool.spec.name in FOLDER_TOOLS for tool in toolset.tools)
    return assemble(
        window,
        card,
        system=system_text(
            instructions_of(terms.profile, all_profiles(terms.settings)), folder=terms.folder if has_folder else ""
        ),
        level=next((level for level in card.levels if level == terms.level), None),
        tools=toolset.tools,
    )


def _user_row(env: SessionEnv, session: str, item: UserInput) -> Row:
    return Row(
        id=item.id,
        session=session,
        role="user",
        turn=item.id,
        created=env.clock.now(),
        # Files first: models answer better to a question that comes after what it is about.
        parts=(*item.attachments, *(() if is_blank(item.text) else (TextPart(text=item.text),))),
    )


def _continue_row(env: SessionEnv, session: str, turn: str) -> Row:
    return Row(
        id=env.new_id(),
        session=session,
        role="user",
        turn=turn,
        created=env.clock.now(),
        kind=Kind.CONTINUE,
        flags=(Flag.HIDDEN,),
        parts=(TextPart(text=CONTINUE_TEXT),),
    )
