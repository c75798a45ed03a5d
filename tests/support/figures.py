"""Figures on a machine that has other things to do: of a few tries one has to reach them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

TRIES = 5


async def reached(measure: Callable[[], Awaitable[float]], *, below_s: float, tries: int = TRIES) -> None:
    """Measure until the figure is reached: once where the machine is quiet. Each try checks what else must hold."""
    took: list[float] = []
    while not took or took[-1] >= below_s:
        assert len(took) < tries, f"never below {below_s:g} s: {took}"
        took.append(await measure())


def reached_now(measure: Callable[[], float], *, below_s: float, tries: int = TRIES) -> None:
    """The same for what blocks."""
    took: list[float] = []
    while not took or took[-1] >= below_s:
        assert len(took) < tries, f"never below {below_s:g} s: {took}"
        took.append(measure())
