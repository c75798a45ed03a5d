"""Whatever waits and is cancelled when, it ends as under `asyncio.timeout`: in a loop whose clock is moved by hand."""

from __future__ import annotations

import asyncio
import selectors
from contextlib import AbstractContextManager, asynccontextmanager, closing
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from service_kit.wait_limit import WaitLimit

SECONDS = 10.0


class Step(NamedTuple):
    """A wait, and a pause after it. One that is cancelled may take time to end, or end as if nothing were."""

    takes: float
    winds_down: float
    swallows: bool
    pause: float


class Selector(selectors.SelectSelector):
    """Waits for nothing: it moves the clock on."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def current() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def wait(step: Step) -> str:
    try:
        await asyncio.sleep(step.takes)
    except asyncio.CancelledError:
        if step.swallows:
            return "swallowed"
        raise
    finally:
        if step.winds_down:
            await asyncio.sleep(step.winds_down)
    return "done"


async def play(steps: list[Step], cancelled_at: list[float], *, is_limit: bool) -> list[object]:
    """How each wait ended, when, and how often the task counts as cancelled after it."""
    loop, ends = asyncio.get_running_loop(), list[object]()

    @asynccontextmanager
    async def limited(limit: AbstractContextManager[object]) -> Any:
        if is_limit:
            with limit:
                yield
        else:
            async with asyncio.timeout(SECONDS):
                yield

    def note(how: str) -> None:
        ends.append((how, round(loop.time(), 6), current().cancelling()))
        while current().cancelling():
            current().uncancel()

    async def work() -> None:
        with closing(WaitLimit(SECONDS)) as limit:
            for step in steps:
                try:
                    async with limited(limit):
                        how = await wait(step)
                    note(how)
                except (TimeoutError, asyncio.CancelledError) as error:
                    note(type(error).__name__)
                try:
                    await asyncio.sleep(step.pause)
                except asyncio.CancelledError:
                    note("paused")

    working = asyncio.create_task(work())
    for at in cancelled_at:
        loop.call_later(at, working.cancel)
    _, late = await asyncio.wait({working}, timeout=1_000)
    return [*ends, bool(late), working.cancelled()]


TIMES = st.sampled_from([0.0, 1.5, 9.5, 10.5, 15.5])
STEPS = st.builds(
    Step, TIMES, st.sampled_from([0.0, 0.0, 1.25, 5.25]), st.booleans(), st.sampled_from([0.0, 4.75, 12.75])
)
MOMENTS = st.one_of(st.floats(0, 50), st.sampled_from([9.9999, 10.0, 10.0001, 20.0]))


@settings(deadline=None, max_examples=300)
@given(steps=st.lists(STEPS, min_size=1, max_size=4), cancelled_at=st.lists(MOMENTS, max_size=2))
def test_it_ends_as_under_a_timeout_of_its_own(steps: list[Step], cancelled_at: list[float]) -> None:
    ended: list[list[object]] = []
    for is_limit in (True, False):
        loop = Loop()
        try:
            ended.append(loop.run_until_complete(play(steps, cancelled_at, is_limit=is_limit)))
        finally:
            loop.close()
    assert ended[0] == ended[1]
