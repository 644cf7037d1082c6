"""Plan one turn before anything is written: the rows to add and the request to send."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.errors import ProviderError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Flag, Kind, Row, TextPart
from app.domain.text import is_blank
from app.domain.tool_names import MEMORY
from app.domain.windows import SESSION_HISTORY
from app.providers.base import Provider
from app.session.assemble import assemble
from app.session.env import SessionEnv
from app.session.inputs import Refused, ResumeTurn, TurnInput, UserInput
from app.session.state import SessionState
from app.settings.schema import Settings
from app.tools.base import Tool

CONTINUE_TEXT: Final = "Please go on exactly where you stopped, without repeating anything."
_PRACTICE: Final = "practice"
"""Provider of the built-in model, which shows what a tool is at no cost."""


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What a turn will write first and then ask. `rows` may be empty when a request is tried again."""

    turn: str
    rows: tuple[Row, ...]
    request: ModelRequest
    provider: Provider
    card: ModelCard
    tools: tuple[Tool, ...] = ()
    """Those the model is offered, in every step of the turn."""


def plan_turn(
    env: SessionEnv, state: SessionState, session: str, item: TurnInput, *, tools: Sequence[Tool] = ()
) -> TurnPlan | Refused:
    """Return what `item` would write and send, or why it can't. `tools` are the chat's. Writes nothing."""
    try:
        provider, card = env.providers.find(state.meta.model)
    except ProviderError as error:
        return Refused(error.detail)
    match item:
        case UserInput():
            if is_blank(item.text) and not item.attachments:
                return Refused("There is nothing to send yet.")
            turn = item.id
            rows: tuple[Row, ...] = (_user_row(env, session, item),)
        case ResumeTurn():
            opened = state.open_turn()
            if opened is None:
                return Refused("This reply is complete; there is nothing to continue.")
            turn = opened.turn
            rows = (_continue_row(env, session, turn),) if opened.has_words else ()
    offered = offered_tools(tools, card, env.settings())
    request = assemble([*state.window, *rows], card, tools=offered)
    return TurnPlan(turn=turn, rows=rows, request=request, provider=provider, card=card, tools=offered)


def offered_tools(tools: Sequence[Tool], card: ModelCard, settings: Settings) -> tuple[Tool, ...]:
    """Return those of a chat's tools that a model is told of; none if it is known to call none."""
    if card.abilities.calls_tools is False:
        return ()
    experiments, is_practice = settings.experiments, card.provider == _PRACTICE
    offers = {
        SESSION_HISTORY: experiments.token_budget_windows or is_practice,
        MEMORY: experiments.agent_memory or is_practice,
    }
    return tuple(tool for tool in tools if offers.get(tool.spec.name, True))


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
