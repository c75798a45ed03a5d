"""Instruments as the text Prometheus reads."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from service_kit.observation.instruments import Counter, Histogram, Instrument, Labels

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def exposition(instruments: Iterable[Instrument]) -> bytes:
    """All of them with their help, also those that counted nothing yet."""
    return "".join(line for instrument in instruments for line in _lines(instrument)).encode()


def _lines(instrument: Instrument) -> Generator[str]:
    yield f"# HELP {instrument.name} {instrument.help}\n# TYPE {instrument.name} {_kind(instrument)}\n"
    if isinstance(instrument, Histogram):
        for values, series in instrument.values.items():
            yield from _histogram(instrument, values, series)
    else:
        for values, value in instrument.values.items():
            yield f"{instrument.name}{_labels(instrument.labels, values)} {value!r}\n"


def _kind(instrument: Instrument) -> str:
    if isinstance(instrument, Histogram):
        return "histogram"
    return "counter" if isinstance(instrument, Counter) else "gauge"


def _histogram(instrument: Histogram, values: Labels, series: list[float]) -> Generator[str]:
    names = (*instrument.labels, "le")
    total = 0.0
    for bound, count in zip((*(f"{bound:g}" for bound in instrument.bounds), "+Inf"), series, strict=False):
        total += count
        yield f"{instrument.name}_bucket{_labels(names, (*values, bound))} {total:.0f}\n"
    yield f"{instrument.name}_sum{_labels(instrument.labels, values)} {series[-1]!r}\n"
    yield f"{instrument.name}_count{_labels(instrument.labels, values)} {total:.0f}\n"


def _labels(names: Labels, values: Labels) -> str:
    pairs = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in zip(names, values, strict=True))
    return f"{{{pairs}}}" if pairs else ""
