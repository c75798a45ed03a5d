"""Cron lines and zones: what is wrong is named, and the change of the clocks is as it is told."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest

from backend_api.domain.errors import InvalidError
from backend_api.domain.schedules.ports import CronFault
from backend_api.infrastructure.cron.cron_lines import CronsimLines

LINES = CronsimLines()
BERLIN = "Europe/Berlin"


def times(cron: str, after: str, count: int, zone: str = BERLIN) -> list[str]:
    begin = datetime.fromisoformat(after).replace(tzinfo=UTC)
    return [f"{at:%m-%d %H:%M}" for at in islice(LINES.times(cron, zone, begin), count)]


def test_times_are_those_of_the_zone() -> None:
    assert times("0 9 * * 1-5", "2026-01-02T12:00", 2) == ["01-05 08:00", "01-06 08:00"]
    assert times("0 9 * * MON-FRI", "2026-07-03T12:00", 1) == ["07-06 07:00"]
    assert times("0 9 1,15 * *", "2026-01-02T12:00", 2, "Asia/Shanghai") == ["01-15 01:00", "02-01 01:00"]


def test_a_fixed_time_that_the_clocks_skip_is_due_when_they_have() -> None:
    """On 29 March 2:00 becomes 3:00, which is 1:00 UTC."""
    assert times("30 2 * * *", "2026-03-28T12:00", 2) == ["03-29 01:00", "03-30 00:30"]
    assert times("0,30 2 * * *", "2026-03-28T12:00", 2) == ["03-29 01:00", "03-30 00:00"]


def test_a_fixed_time_that_is_there_twice_is_due_once() -> None:
    """On 25 October 3:00 becomes 2:00: 2:30 is 0:30 and 1:30 UTC."""
    assert times("30 2 * * *", "2026-10-24T12:00", 2) == ["10-25 00:30", "10-26 01:30"]
    assert times("30 2 * * *", "2026-10-25T00:40", 1) == ["10-26 01:30"]
    assert times("50 2 * * *", "2026-10-25T01:40", 1) == ["10-26 01:50"], "not the one that has passed"


def test_what_is_due_each_hour_goes_on_by_the_hour() -> None:
    assert times("30 * * * *", "2026-10-24T23:45", 3) == ["10-25 00:30", "10-25 01:30", "10-25 02:30"]
    assert times("30 * * * *", "2026-03-29T00:00", 2) == ["03-29 00:30", "03-29 01:30"]


@pytest.mark.parametrize(
    ("cron", "said", "fault"),
    [
        ("61 * * * *", "The minute (1st field)", "cron_minute"),
        ("*/0 * * * *", "The minute (1st field)", "cron_minute"),
        ("0 24 * * *", "The hour (2nd field)", "cron_hour"),
        ("0 0 32 * *", "The day of the month (3rd field)", "cron_day"),
        ("0 0 30 2 *", "The day of the month (3rd field)", "cron_day"),
        ("0 0 * 13 *", "The month (4th field)", "cron_month"),
        ("0 0 * * noday", "The day of the week (5th field)", "cron_weekday"),
        ("0 0 * * MON-", "The day of the week (5th field)", "cron_weekday"),
        ("0 9 * *", "4 fields", "cron_fields"),
        ("0 0 9 * * *", "6 fields", "cron_fields"),
        ("@daily", "1 fields", "cron_fields"),
        ("", "0 fields", "cron_fields"),
        ("0 0 30 2 */8", "The day of the month (3rd field)", "cron_day"),
        ("0 0 31 2,4 *", "The day of the month (3rd field)", "cron_day"),
    ],
)
def test_a_wrong_line_is_told_with_what_is_wrong(cron: str, said: str, fault: CronFault) -> None:
    with pytest.raises(InvalidError) as refused:
        LINES.check(cron, field="body.cron")
    assert said in str(refused.value)
    assert (refused.value.field, refused.value.fault) == ("body.cron", fault)


def test_a_rare_day_is_found_and_one_that_never_comes_is_refused() -> None:
    LINES.check("0 0 29 2 MON#5", field="body.cron")
    with pytest.raises(InvalidError, match="never") as refused:
        LINES.check("0 0 */31 * MON#2", field="body.cron")
    assert refused.value.fault == "cron_never_due"


@pytest.mark.parametrize("zone", ["", "Europe", "Nowhere/Town", "../etc/passwd", "/etc/passwd", "a\0b", "x" * 300])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidError, match="IANA"):
        LINES.check_zone(zone, field="body.timezone")


@pytest.mark.parametrize(
    ("local", "in_utc"),
    [
        ("2026-07-01T09:00", "2026-07-01T07:00+00:00"),
        ("2026-10-25T02:30", "2026-10-25T00:30+00:00"),
        ("2026-03-29T02:30", "2026-03-29T01:30+00:00"),
    ],
)
def test_a_time_without_offset_is_one_of_the_zone(local: str, in_utc: str) -> None:
    assert LINES.local(datetime.fromisoformat(local), BERLIN) == datetime.fromisoformat(in_utc)
