"""How long a model is asked to think, in OpenAI's words for it. Pure.

See OpenAI's documentation of reasoning effort. Compatible servers have the same words; some know fewer.
"""

import re
from typing import Final

from app.domain.models import ThinkingLevel

_MOST_IS_XHIGH: Final = re.compile(r"gpt-5\.[2-5](?!\d)")
"""Models whose highest effort is `xhigh`; later ones have `max` above it."""


def effort_of(model: str, level: ThinkingLevel) -> str:
    """Return the effort that asks `model` for a level."""
    if level is ThinkingLevel.OFF:
        return "none"
    if level is ThinkingLevel.MAX and _MOST_IS_XHIGH.match(model):
        return "xhigh"
    return level.value
