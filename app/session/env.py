"""What every chat of the program shares, handed in by the composition root."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.aio import Clock, TaskSet
from app.budget.tokens import TokenCounter
from app.domain.events import Emit
from app.domain.ids import NewId
from app.domain.models import ModelCard
from app.history.files import ChatFiles
from app.providers.registry import Registry
from app.settings.schema import Settings
from app.tools.base import Tool

MakeTools = Callable[[ChatFiles, str], tuple[Tool, ...]]
"""Makes the tools of one chat, given its files and its id. Reads nothing yet."""


def no_tools(_files: ChatFiles, _session: str) -> tuple[Tool, ...]:
    """Return no tools."""
    return ()


MakePreload = Callable[[ChatFiles, ModelCard, Settings], str]
"""Returns what stands at the very end of the system text of a turn with this model, such as memories; empty for none.

Runs off the loop and may read the disk.
"""


def no_preload(_files: ChatFiles, _card: ModelCard, _settings: Settings) -> str:
    """Return nothing."""
    return ""


ForgetPreload = Callable[[ChatFiles], None]
"""Told when a chat begins a fresh window: what stands at the end of its system text may be chosen anew."""


def keep_preload(_files: ChatFiles) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class SessionEnv:
    """Collaborators of a session worker; the same for all chats."""

    providers: Registry
    emit: Emit
    clock: Clock
    new_id: NewId
    tasks: TaskSet
    random: Callable[[], float]
    """Between 0 and 1; spreads retries."""
    counter: TokenCounter = field(default_factory=TokenCounter)
    make_tools: MakeTools = no_tools
    make_preload: MakePreload = no_preload
    forget_preload: ForgetPreload = keep_preload
    settings: Callable[[], Settings] = Settings
    """What holds now; read at the start of a turn."""
