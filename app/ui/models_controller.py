"""Which models there are to choose from, and what is asked of the engine when one is chosen."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.ui.bridge import Bridge

if TYPE_CHECKING:  # It loads pydantic, which must wait for the first paint.
    from app.domain.models import ModelCard
    from app.settings.schema import Edit, Settings


class ModelsController(QObject):
    """Knows the models on offer; the model of each chat is the chat's own."""

    changed = Signal()
    """Other models are on offer, or their names or stars are others."""
    failed = Signal(str)
    """A sentence for people about something that could not be done."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._names: dict[str, str] = {}
        self._open_ended: set[str] = set()
        """Providers that can be asked for models that are in no list, too."""
        self._loads = 0
        self.usable: tuple[ModelCard, ...] = ()
        """What a request can be sent to."""
        self.known: tuple[ModelCard, ...] = ()
        """Also what is known of endpoints that have no key yet."""
        self.default_ref = ""
        """`provider/model` of new chats."""

    async def load(self) -> None:
        """Ask which models there are. Raises KnownError."""
        self._loads += 1
        number = self._loads
        usable, known = await self._bridge.list_models(), await self._bridge.all_models()
        settings: Settings | None = None
        with contextlib.suppress(KnownError):
            # Settings that can't be read are told of where they are shown; the models are there all the same.
            settings = await self._bridge.settings()
        if number != self._loads or not isValid(self):
            # Asked again meanwhile: that answer is the newer one. Or the window is gone.
            return
        refs = {card.ref for card in usable}
        self.usable, self.known = tuple(card for card in known if card.ref in refs), known
        self._names |= {card.ref: card.name for card in known if card.name}
        self._open_ended = set()
        self.default_ref = usable[0].ref if usable else ""
        if settings is not None:
            providers = {card.provider for card in usable}
            self._open_ended = {endpoint.id for endpoint in settings.endpoints} & providers
            wanted = settings.general.default_model
            self.default_ref = wanted if self._is_on_offer(wanted) else self.default_ref
        self.changed.emit()

    def refresh(self) -> None:
        """Ask again; what was known stays until there is an answer."""
        self._tasks.spawn(self._refresh(), name="read the models again")

    def name(self, ref: str) -> str:
        """Return a model's name for people; of one that nobody knows, its own."""
        return self._names.get(ref) or ref.partition("/")[2] or ref

    def provider_name(self, ref: str) -> str:
        """Return what people call the provider of a model."""
        card = next((card for card in (*self.usable, *self.known) if card.ref == ref), None)
        return card.provider_name if card is not None and card.provider_name else ref.partition("/")[0]

    def levels(self, ref: str) -> tuple[str, ...]:
        """Return how long a model can be asked to think; nothing if nobody knows."""
        card = next((card for card in (*self.usable, *self.known) if card.ref == ref), None)
        return tuple(level.value for level in card.levels) if card is not None else ()

    def warning(self, ref: str) -> str:
        """Return a sentence if no request can be sent to a model; empty if it is on offer, or nothing is known yet."""
        if not self.usable or not ref or self._is_on_offer(ref):
            return ""
        card = next((card for card in self.known if card.ref == ref), None)
        if card is not None:
            text = self.tr("{provider} is not set up: it needs a key. Add one, or choose another model.")
            return text.format(provider=card.provider_name or card.provider)
        return self.tr("This model is no longer on offer. Choose another one to go on.")

    def choose(self, session: str, ref: str, *, for_new_chats: bool) -> None:
        """Have a chat go on with a model from its next message; new chats too, if asked."""
        self._tasks.spawn(self._choose(session, ref, for_new_chats=for_new_chats), name="choose a model")

    def set_favourite(self, ref: str, *, on: bool) -> None:
        """List a model among the favourites, or no longer."""
        from app.ui.settings.edits import change_model

        self._tasks.spawn(self._change(change_model(ref, favourite=on)), name="save a favourite")

    def _is_on_offer(self, ref: str) -> bool:
        return ref.partition("/")[0] in self._open_ended or any(card.ref == ref for card in self.usable)

    async def _refresh(self) -> None:
        with contextlib.suppress(KnownError):
            await self.load()

    async def _choose(self, session: str, ref: str, *, for_new_chats: bool) -> None:
        from app.ui.settings.edits import change_part

        try:
            await self._bridge.set_model(session, ref)
        except KnownError as error:
            self.failed.emit(str(error))
            return
        if for_new_chats and ref != self.default_ref:
            await self._change(change_part("general", default_model=ref))

    async def _change(self, edit: Edit) -> None:
        try:
            await self._bridge.change_settings(edit)
        except KnownError as error:
            self.failed.emit(str(error))
