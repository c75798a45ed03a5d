"""Prices of model calls."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.agent.events import Usage

PER_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars per million tokens of input, of input read from and written to the provider's cache, and of output.

    A call with more than `above` input tokens is charged by `long` as a whole.
    """

    input: float
    cache_read: float
    cache_write: float
    output: float
    above: int | None = None
    long: Prices | None = None

    @property
    def are_nothing(self) -> bool:
        """Whether a call costs nothing, whatever it used."""
        return not (self.input or self.output)

    def cost(self, usage: Usage) -> float | None:
        """The cost of one call in US dollars; None if its provider reported no usage."""
        if self.long is not None and self.above is not None and usage.input > self.above:
            return self.long.cost(usage)
        if self.are_nothing:
            return 0.0
        if not usage.input:
            return None
        fresh = max(usage.input - usage.cached - usage.cache_write, 0)
        cost = (
            fresh * self.input
            + usage.cached * self.cache_read
            + usage.cache_write * self.cache_write
            + usage.output * self.output
        )
        return cost / PER_TOKENS
