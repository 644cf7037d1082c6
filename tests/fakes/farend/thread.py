"""The far end on a thread and loop of its own, for tests that run no loop."""

import asyncio
import ssl
import threading
from collections.abc import Callable, Sequence
from typing import Self

from tests.fakes.farend.models import DEFAULT_MODELS, Look, Model
from tests.fakes.farend.received import Received
from tests.fakes.farend.script import Answer
from tests.fakes.farend.server import FarEnd


class FarEndThread:
    """As `FarEnd`, for synchronous tests: `with FarEndThread() as far: …`. Everything is thread-safe."""

    def __init__(
        self,
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        models: Sequence[Model] = DEFAULT_MODELS,
        look: Look = "plain",
        words_per_second: float | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        """See `FarEnd`."""
        self.far = FarEnd(
            port=port, tls=tls, models=models, look=look, words_per_second=words_per_second, report=report
        )
        self._thread = threading.Thread(target=self._run, name="far end", daemon=True)
        self._is_up = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_up.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - raised on the test's thread
            self._failure = error
        finally:
            self._is_up.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        async with self.far:
            self._is_up.set()
            await self._stop.wait()

    @property
    def url(self) -> str:
        """See `FarEnd.url`."""
        return self.far.url

    @property
    def port(self) -> int:
        return self.far.port

    @property
    def requests(self) -> list[Received]:
        """See `FarEnd.requests`; a copy."""
        return list(self.far.requests)

    @property
    def connections(self) -> int:
        """See `FarEnd.connections`."""
        return self.far.connections

    @property
    def stalled(self) -> int:
        """See `FarEnd.stalled`."""
        return self.far.stalled

    @property
    def left(self) -> int:
        """See `FarEnd.left`."""
        return self.far.left

    def play(self, *answers: Answer, path: str | None = None) -> None:
        """See `FarEnd.play`."""
        self.far.play(*answers, path=path)

    def release(self) -> None:
        """See `FarEnd.release`."""
        self.far.release()
