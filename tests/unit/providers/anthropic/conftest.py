from collections.abc import AsyncIterator

import pytest

from tests.fakes.farend import FarEnd


@pytest.fixture
async def far() -> AsyncIterator[FarEnd]:
    async with FarEnd() as far_end:
        yield far_end
