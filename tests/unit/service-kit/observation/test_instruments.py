"""Counting, and what Prometheus reads of it."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from service_kit.observation.instruments import MAX_CHARACTERS, MAX_SERIES, SECONDS, Labelled


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def page_of(registry: CollectorRegistry) -> str:
    return generate_latest(registry).decode()


def read(registry: CollectorRegistry) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(page_of(registry))
    samples = [sample for family in families for sample in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def test_a_page_is_what_it_was_and_holds_no_second_series(registry: CollectorRegistry) -> None:
    ended = Labelled(Counter("runs_ended_total", "Runs.", ["status"], registry=registry))
    ended.labels("failed").inc()
    ended.labels("failed").inc(2)
    assert page_of(registry) == (
        '# HELP runs_ended_total Runs.\n# TYPE runs_ended_total counter\nruns_ended_total{status="failed"} 3.0\n'
    )


def test_buckets_hold_all_up_to_their_bound(registry: CollectorRegistry) -> None:
    took = Labelled(Histogram("took_seconds", "Took.", ["tool"], registry=registry, buckets=SECONDS))
    took.labels("shell").observe(0.5)
    samples = read(registry)
    assert samples["took_seconds_bucket", (("le", "0.25"), ("tool", "shell"))] == 0
    assert samples["took_seconds_bucket", (("le", "0.5"), ("tool", "shell"))] == 1
    assert samples["took_seconds_bucket", (("le", "1.0"), ("tool", "shell"))] == 1
    assert samples["took_seconds_count", (("tool", "shell"),)] == 1
    assert len(samples) == len(SECONDS) + 3


def test_a_flood_of_labels_is_counted_as_other(registry: CollectorRegistry) -> None:
    flooded = Labelled(Counter("flooded_total", "Flooded.", ["name"], registry=registry))
    took = Labelled(Histogram("took_seconds", "Took.", ["name"], registry=registry))
    for number in range(MAX_SERIES + 50):
        flooded.labels(f"name-{number}").inc()
        took.labels(f"name-{number}").observe(1.0)
    samples = read(registry)
    assert len([name for name, _ in samples if name == "flooded_total"]) == MAX_SERIES + 1
    assert samples["flooded_total", (("name", "other"),)] == 50
    assert samples["took_seconds_count", (("name", "other"),)] == 50


@pytest.mark.parametrize("name", ["\ud800", 'a "quoted" \\ line\nbreak', "x" * 100_000, "名"])
def test_no_name_breaks_or_fills_the_page(registry: CollectorRegistry, name: str) -> None:
    calls = Labelled(Counter("calls_total", "Calls.", ["tool"], registry=registry))
    calls.labels(name).inc()
    calls.labels(name).inc()
    ((_, ((_, written),)),) = read(registry)
    assert read(registry)["calls_total", (("tool", written),)] == 2
    assert len(written) <= MAX_CHARACTERS


def test_the_wrong_number_of_labels_is_a_mistake(registry: CollectorRegistry) -> None:
    ended = Labelled(Counter("runs_total", "Runs.", ["status"], registry=registry))
    with pytest.raises(ValueError, match="label count"):
        ended.labels()
