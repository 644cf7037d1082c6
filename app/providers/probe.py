"""Tries an endpoint step by step, and says in words which step failed."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from app.domain.connections import StepResult, TestReport, TestStep
from app.domain.errors import ErrorKind, ProviderError
from app.domain.request import ModelRequest
from app.domain.rows import Row, TextPart
from app.providers.base import GetKey, QuietPiece, RemoteProvider, ReplayPiece, UsagePiece
from app.providers.catalogue import Catalogue
from app.providers.listing import list_chat_models
from app.providers.way import CONNECT_SECONDS, StepFailed, Way
from app.settings.schema import Endpoint, ListedModel, Network

TOTAL_SECONDS: Final = 60.0
QUESTION: Final = "Say OK."
MAX_TOKENS: Final = 16
"""The least that OpenAI's Responses take."""
_NO_LIST: Final = frozenset({ErrorKind.INVALID_REQUEST, ErrorKind.MODEL_NOT_FOUND})
"""Kinds of error that may only mean that a server has no list of models; its models can be asked all the same."""


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """How long is waited."""

    connect_seconds: float = CONNECT_SECONDS
    total_seconds: float = TOTAL_SECONDS


class _Record:
    """The steps of one test as they are taken."""

    def __init__(self, limits: ProbeLimits) -> None:
        self.model = ""
        self._limits = limits
        self._results: dict[TestStep, StepResult] = {}
        self._current = TestStep.NAME

    def has(self, step: TestStep) -> bool:
        return step in self._results

    async def take(self, step: TestStep, work: Callable[[], Awaitable[str | None]]) -> None:
        """Take a step and note what it returns; None means that it does not apply. Raises StepFailed."""
        self._current = step
        detail = await work()
        if detail is not None:
            self.note(step, detail)

    def note(self, step: TestStep, detail: str, *, passed: bool = True) -> None:
        self._results[step] = StepResult(step, passed=passed, detail=detail)

    async def report(self, steps: Awaitable[None]) -> TestReport:
        """Await all steps and return how they went, the one that failed last."""
        try:
            async with asyncio.timeout(self._limits.total_seconds):
                await steps
        except StepFailed as failure:
            self.note(failure.step, failure.detail, passed=False)
        except TimeoutError:
            detail = f"No answer within {self._limits.total_seconds:g} seconds."
            if self._current is TestStep.MODEL:
                detail += " A local server may still be loading the model: try again in a while."
            self.note(self._current, detail, passed=False)
        results = tuple(self._results[step] for step in TestStep if step in self._results)
        return TestReport(steps=results, model=self.model)


async def reach(endpoint: Endpoint, network: Network, *, limits: ProbeLimits | None = None) -> TestReport:
    """Take the steps that need no key: name, connection, certificate."""
    limits = limits or ProbeLimits()
    record = _Record(limits)
    return await record.report(_go(record, endpoint, network, limits))


async def _go(record: _Record, endpoint: Endpoint, network: Network, limits: ProbeLimits) -> None:
    way = Way(endpoint, network, connect_seconds=limits.connect_seconds)
    await record.take(TestStep.NAME, way.find_name)
    await record.take(TestStep.CONNECT, way.connect)
    await record.take(TestStep.CERTIFICATE, way.check_certificate)


class Probe:
    """One test of one endpoint, with a key and a model. `provider` speaks to it; whoever made it closes it."""

    def __init__(
        self,
        endpoint: Endpoint,
        network: Network,
        provider: RemoteProvider,
        *,
        get_key: GetKey,
        catalogue: Catalogue,
        model: str = "",
        limits: ProbeLimits | None = None,
    ) -> None:
        """`model` is the one to ask; empty for the first of its list."""
        self._endpoint = endpoint
        self._network = network
        self._provider = provider
        self._get_key = get_key
        self._catalogue = catalogue
        self._model = model
        self._limits = limits or ProbeLimits()
        self._record = _Record(self._limits)
        self._models: tuple[ListedModel, ...] = endpoint.models

    async def run(self) -> TestReport:
        """Take the steps until one fails, at most `total_seconds`. Raises only if it is cancelled."""
        return await self._record.report(self._take_all())

    async def _take_all(self) -> None:
        await _go(self._record, self._endpoint, self._network, self._limits)
        await self._record.take(TestStep.KEY, self._try_key)
        await self._record.take(TestStep.MODEL, self._ask)

    async def _try_key(self) -> str | None:
        """Ask for the list of models: the cheapest request that needs a key."""
        try:
            key = await self._get_key()
        except ProviderError as error:
            raise StepFailed(TestStep.KEY, str(error)) from error
        try:
            self._models = await list_chat_models(
                self._provider, self._endpoint, self._network, key=key, catalogue=self._catalogue
            )
        except ProviderError as error:
            if error.kind in _NO_LIST and (self._model or self._models):
                # The model tells whether the key is right.
                return None
            raise StepFailed(TestStep.KEY, self._key_sentence(error)) from error
        count = f"{len(self._models)} model{'' if len(self._models) == 1 else 's'}"
        return f"The server offers {count}."

    async def _ask(self) -> str:
        """Have a model begin an answer."""
        model = self._model or next((entry.id for entry in self._models), "")
        if not model:
            raise StepFailed(
                TestStep.MODEL, "The server lists no model to chat with. Load one there, or enter its name."
            )
        try:
            await self._hear(model)
        except ProviderError as error:
            # Some servers show their list to everybody and look at the key only now.
            step = TestStep.KEY if error.kind is ErrorKind.AUTHENTICATION else TestStep.MODEL
            raise StepFailed(step, self._key_sentence(error)) from error
        if not self._record.has(TestStep.KEY):
            self._record.note(TestStep.KEY, "The server has no list of models.")
        self._record.model = model
        return ""

    def _key_sentence(self, error: ProviderError) -> str:
        if error.kind is ErrorKind.AUTHENTICATION and not self._endpoint.needs_key:
            return f"{error} It wants a key: switch on “Needs a key” and enter it."
        return str(error)

    async def _hear(self, model: str) -> None:
        """Return at the first piece of an answer. Raises ProviderError."""
        row = Row(id="test", session="test", role="user", turn="test", parts=(TextPart(text=QUESTION),))
        request = ModelRequest(model=model, system="", rows=(row,), max_tokens=MAX_TOKENS)
        async with contextlib.aclosing(self._provider.stream(request)) as pieces:
            async for piece in pieces:
                if not isinstance(piece, QuietPiece | UsagePiece | ReplayPiece):
                    return
        raise ProviderError(ErrorKind.TRUNCATED, f"{model} began an answer that ended at once.")
