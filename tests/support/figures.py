"""Figures: a median is held to a limit. For tests marked `quiet`, which run while nothing else does."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

TIMES = 5


def assert_median(took_s: Sequence[float], *, below_s: float) -> None:
    """What was measured, all of it, and the limit its median keeps."""
    assert statistics.median(took_s) < below_s, f"the median is not below {below_s:g} s: {sorted(took_s)}"
