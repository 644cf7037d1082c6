"""The models a far end offers, and how the list endpoints of each kind of server describe them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Look = Literal["plain", "ollama", "lmstudio", "llamacpp"]
"""Which server's own endpoints answer besides those of the dialects; the others give 404."""


@dataclass(frozen=True)
class Model:
    """One model of the far end."""

    id: str
    name: str = ""
    context: int = 200_000
    """What the model was made for, in tokens."""
    loaded_context: int | None = None
    """What it is loaded with (LM Studio, `/api/ps` of Ollama); not loaded if None."""
    num_ctx: int | None = None
    """The parameter of Ollama's model file."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Added to its entry in `/v1/models`, as `max_model_len` of vLLM or `context_length` of OpenRouter."""


DEFAULT_MODELS = (
    Model("far-large", "Far Large", 200_000),
    Model("far-small", "Far Small", 32_768),
    Model("far-tiny", "Far Tiny", 4_096),
)
