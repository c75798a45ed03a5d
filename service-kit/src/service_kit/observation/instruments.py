"""What counts: plain numbers in the process, read out by whoever is asked for metrics.

Counting is for the event loop's thread; it takes well under a microsecond and can't fail. Labels are few known words,
never an id: beyond `MAX_SERIES` of one instrument all further ones are counted together as "other".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Sequence
from contextlib import contextmanager

MAX_SERIES = 500
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)

Labels = tuple[str, ...]


class _Instrument:
    """A name, what it says, and the names of its labels."""

    __slots__ = ("_other", "help", "labels", "name")

    def __init__(self, name: str, help_: str, labels: Labels) -> None:
        self.name = name
        self.help = help_
        self.labels = labels
        self._other = ("other",) * len(labels)

    def _series(self, known: int, values: Labels) -> Labels:
        """The series a first count of these values goes to."""
        if len(values) != len(self.labels):
            raise ValueError(f"{self.name} has the labels {self.labels}")
        return values if known < MAX_SERIES else self._other


class Counter(_Instrument):
    """Only grows."""

    __slots__ = ("values",)

    def __init__(self, name: str, help_: str, labels: Labels) -> None:
        super().__init__(name, help_, labels)
        self.values: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, *values: str, by: float = 1.0) -> None:
        if values not in self.values:
            values = self._series(len(self.values), values)
        self.values[values] = self.values.get(values, 0.0) + by


class Gauge(_Instrument):
    """Goes up and down."""

    __slots__ = ("values",)

    def __init__(self, name: str, help_: str, labels: Labels) -> None:
        super().__init__(name, help_, labels)
        self.values: dict[Labels, float] = {} if labels else {(): 0.0}

    def set(self, value: float, *values: str) -> None:
        if values not in self.values:
            values = self._series(len(self.values), values)
        self.values[values] = value

    def add(self, *values: str, by: float = 1.0) -> None:
        if values not in self.values:
            values = self._series(len(self.values), values)
        self.values[values] = self.values.get(values, 0.0) + by

    @contextmanager
    def held(self, *values: str) -> Generator[None]:
        """One more while inside."""
        self.add(*values)
        try:
            yield
        finally:
            self.add(*values, by=-1.0)


class Histogram(_Instrument):
    """How long things took, or how large they were."""

    __slots__ = ("bounds", "values")

    def __init__(self, name: str, help_: str, labels: Labels, bounds: Sequence[float] = SECONDS) -> None:
        super().__init__(name, help_, labels)
        self.bounds = tuple(bounds)
        self.values: dict[Labels, list[float]] = {}
        """Counts by bucket (the last one has no bound), and the sum."""

    def observe(self, value: float, *values: str) -> None:
        series = self.values.get(values)
        if series is None:
            values = self._series(len(self.values), values)
            series = self.values.setdefault(values, [0.0] * (len(self.bounds) + 2))
        series[bisect_left(self.bounds, value)] += 1.0
        series[-1] += value


Instrument = Counter | Gauge | Histogram


class Instruments:
    """All that a service counts."""

    def __init__(self) -> None:
        self.all: list[Instrument] = []

    def counter(self, name: str, help_: str, *labels: str) -> Counter:
        counter = Counter(name, help_, labels)
        self.all.append(counter)
        return counter

    def gauge(self, name: str, help_: str, *labels: str) -> Gauge:
        gauge = Gauge(name, help_, labels)
        self.all.append(gauge)
        return gauge

    def histogram(self, name: str, help_: str, *labels: str, bounds: Sequence[float] = SECONDS) -> Histogram:
        histogram = Histogram(name, help_, labels, bounds)
        self.all.append(histogram)
        return histogram
