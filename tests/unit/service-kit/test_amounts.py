"""Sizes and spans of time as people say them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service_kit.amounts import duration_text, size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1_000, "1,000 bytes"),
        (1_024, "1 KB"),
        (1_536, "1.5 KB"),
        (10_485_760, "10 MB"),
        (1_048_575, "1 MB"),
        (1_048_576, "1 MB"),
        (5 * 1024**3, "5 GB"),
        (2_000 * 1024**4, "2,000 TB"),
    ],
)
def test_a_size_is_told_in_the_unit_that_people_use(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (0.0666667 * 60, "4 seconds"),
        (0.2, "0.2 seconds"),
        (0.05, "0.05 seconds"),
        (0, "0 seconds"),
        (1, "1 second"),
        (2.5, "2.5 seconds"),
        (60, "1 minute"),
        (90, "1 minute and 30 seconds"),
        (59.7, "1 minute"),
        (7_200, "2 hours"),
        (3_661, "1 hour and 1 minute"),
        (3_605, "1 hour"),
        (90_000, "1 day and 1 hour"),
        (timedelta(minutes=5), "5 minutes"),
    ],
)
def test_a_span_of_time_is_told_in_its_two_largest_units(span: float | timedelta, text: str) -> None:
    assert duration_text(span) == text
