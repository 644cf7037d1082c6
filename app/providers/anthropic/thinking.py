"""How long a model is asked to think, in the words of the Messages API. Pure.

See Anthropic's documentation of thinking, effort and of the migration to each model. Without a level nothing of it is
sent, and the model's own default holds.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from app.domain.models import ThinkingLevel

LEAST_BUDGET: Final = 1024
"""Tokens; a smaller budget is refused."""
BETWEEN_TOOLS_ONLY: Final = re.compile(r"claude-sonnet-5-5\b")
"""Models that refuse `disabled` and take `between_tools`, which thinks no more than that."""
_BY_BUDGET: Final = re.compile(r"claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-20\d{6}|@\d+)?$)")
"""Claude's models up to 4.5: they think within a budget. Later ones decide for themselves, by the effort asked for."""
_BUDGETS: Final[Mapping[ThinkingLevel, int]] = {
    ThinkingLevel.LOW: 4096,
    ThinkingLevel.MEDIUM: 16_384,
    ThinkingLevel.HIGH: 32_768,
    ThinkingLevel.MAX: 65_536,
}
"""Tokens of thinking, where a level is a budget."""


def thinking_fields(
    model: str, level: ThinkingLevel | None, messages: Sequence[Mapping[str, object]], *, max_tokens: int
) -> dict[str, object]:
    """Return the fields of a request that ask for `level`; none where it can't be asked for.

    Thoughts are asked for as summaries: newer models send none of their words otherwise. Servers of other makers know
    budgets only, whose figure they may pass over.
    """
    if level is None:
        return {}
    if level is ThinkingLevel.OFF:
        return {"thinking": {"type": "between_tools" if BETWEEN_TOOLS_ONLY.match(model) else "disabled"}}
    if model.startswith("claude-") and not _BY_BUDGET.match(model):
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": level.value}}
    # Half of what may be written is left for the answer: thoughts count too (context-windows.md, 11).
    budget = min(_BUDGETS[level], max_tokens // 2)
    if budget < LEAST_BUDGET or not may_think(messages):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def may_think(messages: Sequence[Mapping[str, object]]) -> bool:
    """Whether a request may ask for thinking within a budget: not amid calls that were made without any.

    The replies since the person spoke last count as one; that must begin with thinking then.
    """
    begin = next((at + 1 for at in reversed(range(len(messages))) if _is_said_by_person(messages[at])), 0)
    first = next((message for message in messages[begin:] if message["role"] == "assistant"), None)
    content = first.get("content") if first is not None else None
    blocks = content if isinstance(content, list) else []
    return not blocks or blocks[0]["type"] in ("thinking", "redacted_thinking")


def _is_said_by_person(message: Mapping[str, object]) -> bool:
    content = message["content"]
    blocks = content if isinstance(content, list) else []
    return message["role"] == "user" and any(block["type"] != "tool_result" for block in blocks)
