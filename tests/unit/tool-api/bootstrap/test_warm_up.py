"""A sandbox of the pool comes to rest before it is frozen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tool_api.bootstrap.warm_up import come_to_rest


@pytest.mark.parametrize(
    ("spent", "looks"),
    [
        pytest.param([0.0, 0.0, 0.0, 0.0], 4, id="idle"),
        pytest.param([0.0, 9.0, 18.0, 18.0, 18.0, 18.0], 6, id="starts, then rests"),
        pytest.param([0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 9.0], 7, id="rests, then starts again"),
    ],
)
async def test_it_waits_until_three_looks_in_a_row_find_nothing_at_work(spent: list[float], looks: int) -> None:
    told = _Told(iter(spent))
    await come_to_rest(told, look_s=0.001)
    assert told.looks == looks


async def test_it_does_not_wait_for_ever_for_what_never_rests() -> None:
    told = _Told(float(9 * number) for number in range(1_000_000))
    await come_to_rest(told, look_s=0.001, longest_s=0.02)
    assert told.looks > 1


class _Told:
    def __init__(self, spent: Iterator[float]) -> None:
        self._spent = spent
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return next(self._spent)
