"""Instruments of the Prometheus client with labels that cannot grow without bound.

Counting takes about a microsecond and may stand on hot paths. Values belong to the process.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

MAX_SERIES = 500
MAX_CHARACTERS = 100
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)

Instrument = TypeVar("Instrument", Counter, Gauge, Histogram)

# Without this each series has a second one with its time of creation.
disable_created_metrics()


class Labelled(Generic[Instrument]):
    """An instrument with labels, whose values may be a stranger's: names of models and tools, codes of errors.

    Beyond `MAX_SERIES` combinations all further ones are counted together as "other".
    """

    def __init__(self, instrument: Instrument) -> None:
        self.instrument = instrument
        self._series: dict[tuple[str, ...], Instrument] = {}

    def labels(self, *values: str) -> Instrument:
        """The series of these values; raises `ValueError` where their number is wrong."""
        series = self._series.get(values)
        if series is None:
            if len(self._series) >= MAX_SERIES:
                return self.instrument.labels(*["other"] * len(values))
            series = self._series[values] = self.instrument.labels(*map(_readable, values))
        return series


def _readable(value: str) -> str:
    """The value without unpaired surrogates, which would break the whole page."""
    return value[:MAX_CHARACTERS].encode(errors="replace").decode()
