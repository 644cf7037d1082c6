"""The settings: one file, `settings.json` of the data folder, validated as a whole.

Fields nobody knows are kept. Frozen: a change is a new value (`settings.model_copy(update=...)`).
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.domain.models import ThinkingLevel

Dialect = Literal["anthropic", "responses", "chat"]
"""How an endpoint is spoken to: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions."""
Maker = Literal["anthropic", "openai", "ollama", "lmstudio", "other"]
"""Whose server it is: decides lists of models, environment keys and what is said about it."""
Theme = Literal["system", "light", "dark"]
ProxyMode = Literal["system", "none", "custom"]
KeptAt = Literal["", "store", "file"]
"""Where a key is saved; empty if it is nowhere."""

VERSION: Final = 1
"""Of the format of the file."""
MIN_ZOOM_PERCENT: Final = 50
MAX_ZOOM_PERCENT: Final = 300


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)


class ListedModel(_Kept):
    """A model as the provider's own list names it. Figures in tokens, None where it doesn't tell."""

    id: str
    name: str = ""
    limit: int | None = Field(default=None, gt=0)
    max_output: int | None = Field(default=None, gt=0)
    sees_pictures: bool | None = None
    reads_pdf: bool | None = None
    calls_tools: bool | None = None
    reasons: bool | None = None
    levels: tuple[ThinkingLevel, ...] | None = None
    """Those it can be asked for, least first."""


class Endpoint(_Kept):
    """An address that serves models."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")
    """Stable key, used in rows and in model references; unique; never `practice`."""
    name: str = Field(min_length=1, max_length=60)
    maker: Maker = "other"
    dialect: Dialect = "chat"
    base_url: str
    """As `settings.addresses` normalises it: what the SDK of the dialect takes as `base_url`."""
    organization: str = ""
    project: str = ""
    needs_key: bool = True
    key_kept: KeptAt = ""
    """Where a key was saved last, so that nobody need be asked at start-up."""
    key_host: str = ""
    """Host and port that key was entered for; it is sent to no other."""
    verify: bool = True
    """Off: its certificate is not checked."""
    models: tuple[ListedModel, ...] = ()
    """The provider's own list when it was last asked."""
    listed: datetime | None = None


class ModelSettings(_Kept):
    """What a person says about one model; None leaves it to the catalogue."""

    name: str | None = Field(default=None, max_length=80)
    limit: int | None = Field(default=None, ge=1024, le=100_000_000)
    max_output: int | None = Field(default=None, ge=16, le=100_000_000)
    sees_pictures: bool | None = None
    reads_pdf: bool | None = None
    calls_tools: bool | None = None
    reasons: bool | None = None
    input_price: float | None = Field(default=None, ge=0)
    """US dollars for a million tokens, as the other prices."""
    output_price: float | None = Field(default=None, ge=0)
    cache_read_price: float | None = Field(default=None, ge=0)
    cache_write_price: float | None = Field(default=None, ge=0)
    favourite: bool = False
    added: bool = False
    """Entered by hand: neither the catalogue nor the provider's list has it."""


class General(_Kept):
    default_model: str = ""
    """`provider/model` of new chats; empty for the Practice model."""
    enter_sends: bool = True
    """Off: Ctrl+Enter sends and Enter makes a new line."""


class Appearance(_Kept):
    theme: Theme = "system"
    zoom_percent: int = Field(default=100, ge=MIN_ZOOM_PERCENT, le=MAX_ZOOM_PERCENT)


class Network(_Kept):
    proxy: ProxyMode = "system"
    proxy_url: str = ""
    """`http://`, `https://` or `socks5://` with host and port; used if `proxy` is `custom`."""
    ca_file: str = ""
    """A PEM file of certificates that are trusted beside the system's."""


class Privacy(_Kept):
    detailed_log: bool = False
    """Log requests too: address, status, sizes and times; never content or keys."""


Effect = Literal["allow", "read", "deny"]
"""What a rule grants: the whole tool (one that changes things asks first), only calls that change nothing, nothing."""


class Rule(_Kept):
    """One line of a policy. The last rule that matches a tool's name decides; what none matches is denied."""

    pattern: str = Field(max_length=200)
    """A regular expression for whole names: `write_file`, `.*_file`."""
    effect: Effect = "allow"


class Profile(_Kept):
    """Who answers in a chat: a name, instructions, and what may be done."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")
    name: str = Field(min_length=1, max_length=60)
    instructions: str = Field(default="", max_length=20_000)
    """Stands at the beginning of the system text."""
    inherits: str = ""
    """Id of a profile whose instructions and rules come before its own."""
    rules: tuple[Rule, ...] = ()


class Agents(_Kept):
    profiles: tuple[Profile, ...] = ()
    """A person's own; those built in are in `settings.profiles`."""
    default_profile: str = ""
    """Of new chats; empty for Assistant."""
    fallback_model: str = ""
    """`provider/model` that is asked when another refuses or is overloaded; empty for none."""


class Experiments(_Kept):
    """What is off until it is asked for."""

    token_budget_windows: bool = False
    """Context windows that roll over; gives models `session_history`."""
    agent_memory: bool = False
    """Gives models `memory`."""
    preload_hot_memories: bool = False
    """Puts the memories used most into the system text; needs `agent_memory`."""


ANTHROPIC: Final = Endpoint(
    id="anthropic", name="Anthropic", maker="anthropic", dialect="anthropic", base_url="https://api.anthropic.com"
)
OPENAI: Final = Endpoint(
    id="openai", name="OpenAI", maker="openai", dialect="responses", base_url="https://api.openai.com/v1"
)


class Settings(_Kept):
    """Everything a person can choose."""

    version: int = VERSION
    general: General = General()
    endpoints: tuple[Endpoint, ...] = (ANTHROPIC, OPENAI)
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    """By `provider/model`."""
    appearance: Appearance = Appearance()
    network: Network = Network()
    privacy: Privacy = Privacy()
    agents: Agents = Agents()
    experiments: Experiments = Experiments()

    def endpoint(self, endpoint_id: str) -> Endpoint | None:
        """Return an endpoint by its id."""
        return next((endpoint for endpoint in self.endpoints if endpoint.id == endpoint_id), None)


Edit = Callable[[Settings], Settings]
"""Makes new settings of the current ones; pure."""


def with_endpoint(settings: Settings, endpoint_id: str, **changes: object) -> Settings:
    """Return `settings` with fields of one endpoint changed; the same if it is not there."""
    endpoints = tuple(
        endpoint.model_copy(update=changes) if endpoint.id == endpoint_id else endpoint
        for endpoint in settings.endpoints
    )
    return settings.model_copy(update={"endpoints": endpoints})
