"""A task that is told to end does, whatever its libraries wait for."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType

import pytest

from service_kit import cancellation


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """One that has imported the function by its name, as some do."""
    # What the call changes, in whatever module, is as before afterwards.
    for module in list(sys.modules.values()):
        if getattr(module, "wait_for", None) is asyncio.wait_for:
            monkeypatch.setattr(module, "wait_for", asyncio.wait_for)
    library = ModuleType("library")
    library.__dict__["wait_for"] = asyncio.wait_for
    monkeypatch.setitem(sys.modules, "library", library)
    cancellation.let_cancellation_through()
    return library


@pytest.mark.parametrize("seconds", [None, 10.0])
@pytest.mark.parametrize("name", ["asyncio", "library"])
async def test_a_cancellation_that_comes_with_the_result_is_not_lost(
    library: ModuleType, name: str, seconds: float | None
) -> None:
    wait_for = asyncio.wait_for if name == "asyncio" else library.wait_for
    result: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    began = asyncio.Event()

    async def wait() -> None:
        began.set()
        await wait_for(result, seconds)
        await asyncio.sleep(10)

    task = asyncio.create_task(wait())
    await began.wait()
    await asyncio.sleep(0)
    result.set_result("done")
    task.cancel()
    await asyncio.wait({task}, timeout=30)
    assert task.cancelled()


async def test_a_wait_ends_with_its_time_and_cancels_what_it_waited_for(library: ModuleType) -> None:
    waited_for = asyncio.get_running_loop().create_future()
    with pytest.raises(TimeoutError):
        await library.wait_for(waited_for, 0.01)
    assert waited_for.cancelled()


async def test_a_result_that_is_there_needs_no_time(library: ModuleType) -> None:
    assert await library.wait_for(asyncio.sleep(0, "here"), 5) == "here"
