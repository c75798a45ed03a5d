"""Work beside the requests that fails ends the process, rather than be missed in silence."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator

import pytest

from backend_api.kit.background_tasks import background_task


@pytest.fixture
def asked_to_end() -> Iterator[list[int]]:
    """The signals this process got."""
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    yield heard
    signal.signal(signal.SIGTERM, before)


async def test_a_part_that_fails_asks_the_process_to_end(
    asked_to_end: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise LookupError("the part is broken")

    async with background_task(fail(), "part") as task:
        await asyncio.wait({task})
        await asyncio.sleep(0)
    assert asked_to_end == [signal.SIGTERM]
    assert [(record.levelname, getattr(record, "part", None)) for record in caplog.records] == [("CRITICAL", "part")]


async def test_a_part_that_is_done_or_cut_ends_nothing(asked_to_end: list[int]) -> None:
    async def done() -> None:
        return

    async def for_ever() -> None:
        await asyncio.Event().wait()

    async with background_task(done(), "done") as task:
        await asyncio.wait({task})
    async with background_task(for_ever(), "cut"):
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert asked_to_end == []
