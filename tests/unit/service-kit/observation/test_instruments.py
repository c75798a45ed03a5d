"""Counting, and what Prometheus reads of it."""

from __future__ import annotations

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from service_kit.observation.exposition import exposition
from service_kit.observation.instruments import MAX_SERIES, Instruments


def read(instruments: Instruments) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(exposition(instruments.all).decode())
    samples = [sample for family in families for sample in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def test_what_was_counted_is_read_again() -> None:
    instruments = Instruments()
    ended = instruments.counter("runs_total", "Runs.", "status")
    here = instruments.gauge("runs_here", "Runs here.")
    ended.add("failed")
    ended.add("failed", by=2)
    with here.held():
        assert read(instruments)["runs_here", ()] == 1
    samples = read(instruments)
    assert samples["runs_total", (("status", "failed"),)] == 3
    assert samples["runs_here", ()] == 0


def test_a_counter_without_labels_begins_at_nothing() -> None:
    instruments = Instruments()
    instruments.counter("lost_total", "Lost.")
    assert read(instruments)["lost_total", ()] == 0


def test_buckets_hold_all_up_to_their_bound() -> None:
    instruments = Instruments()
    took = instruments.histogram("took_seconds", "Took.", "tool", bounds=(0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 7.0):
        took.observe(seconds, "shell")
    samples = read(instruments)
    counts = [samples["took_seconds_bucket", (("le", bound), ("tool", "shell"))] for bound in ("0.1", "1", "+Inf")]
    assert counts == [2, 3, 4]
    assert samples["took_seconds_count", (("tool", "shell"),)] == 4
    assert math.isclose(samples["took_seconds_sum", (("tool", "shell"),)], 7.65)


def test_labels_may_hold_any_character() -> None:
    instruments = Instruments()
    odd = 'a "quoted" \\ line\nbreak'
    instruments.counter("odd_total", "Odd.", "name").add(odd)
    assert read(instruments)["odd_total", (("name", odd),)] == 1


def test_a_flood_of_labels_is_counted_as_other() -> None:
    instruments = Instruments()
    flooded = instruments.counter("flooded_total", "Flooded.", "name")
    took = instruments.histogram("took_seconds", "Took.", "name")
    for number in range(MAX_SERIES + 50):
        flooded.add(f"name-{number}")
        took.observe(1.0, f"name-{number}")
    assert len(flooded.values) == len(took.values) == MAX_SERIES + 1
    assert read(instruments)["flooded_total", (("name", "other"),)] == 50
    assert read(instruments)["took_seconds_count", (("name", "other"),)] == 50


def test_the_wrong_number_of_labels_is_a_mistake() -> None:
    counter = Instruments().counter("runs_total", "Runs.", "status")
    with pytest.raises(ValueError, match="runs_total"):
        counter.add()


def test_what_is_not_known_is_not_a_number() -> None:
    instruments = Instruments()
    instruments.gauge("waiting", "Waiting.").set(math.nan)
    assert math.isnan(read(instruments)["waiting", ()])
