"""When runs renew their leases."""

from __future__ import annotations

from math import floor

import pytest

from backend_api.runs.application.lease_keeper import until_next_beat
from backend_api.runs.application.run_services import RunOptions


@pytest.mark.parametrize("now", [0.0, 0.3, 1.2, 1.3, 2.4999, 2.5, 1_000_003.7])
def test_runs_beat_together_whenever_they_began_and_none_waits_long(now: float) -> None:
    rest = until_next_beat(now, 2.5)
    beats = (now + rest) / 2.5
    assert abs(beats - floor(beats + 0.5)) < 1e-6
    assert 1.25 <= rest <= 3.75


def test_a_lease_outlives_a_beat_that_failed() -> None:
    options = RunOptions()
    assert 2 * 1.5 * options.heartbeat_s < options.lease_s
