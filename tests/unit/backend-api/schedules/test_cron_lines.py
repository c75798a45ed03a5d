"""Cron lines and zones: what is wrong is named, and the change of the clocks is as it is told."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest

from backend_api.kit.errors import InvalidError
from backend_api.schedules.cron_lines import CronsimLines
from backend_api.schedules.ports import CronFault

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
        ("daily", "This has 1 field. ", "cron_fields"),
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


@pytest.mark.parametrize(
    ("cron", "said", "fault"),
    [
        ("*/90 * * * *", "The step /90 is larger than its range of 60", "cron_minute"),
        ("*/61 * * * *", "The step /61 is larger than its range of 60", "cron_minute"),
        ("0,*/75 * * * *", "The step /75 is larger than its range of 60", "cron_minute"),
        ("5/90 * * * *", "The step /90 is larger than its range of 55", "cron_minute"),
        ("0-10/20 * * * *", "The step /20 is larger than its range of 11", "cron_minute"),
        ("0 */36 * * *", "The step /36 is larger than its range of 24", "cron_hour"),
        ("0 0 */45 * *", "The step /45 is larger than its range of 31", "cron_day"),
        ("0 0 1 */18 *", "The step /18 is larger than its range of 12", "cron_month"),
        ("0 0 1 JAN-JUN/7 *", "The step /7 is larger than its range of 6", "cron_month"),
        ("0 0 * * */14", "The step /14 is larger than its range of 7", "cron_weekday"),
        ("0 0 * * MON-FRI/6", "The step /6 is larger than its range of 5", "cron_weekday"),
        ("*/-5 * * * *", "The step after the / is a number from 1 on", "cron_minute"),
        ("*/0 * * * *", "The step after the / is a number from 1 on", "cron_minute"),
        ("*/ * * * *", "The step after the / is a number from 1 on", "cron_minute"),
        ("50-10 * * * *", "The range 50-10 runs backwards: write 50-59,0-10", "cron_minute"),
        ("0 22-6 * * *", "The range 22-6 runs backwards: write 22-23,0-6", "cron_hour"),
        ("0 0 * NOV-FEB *", "The range NOV-FEB runs backwards: write NOV-12,1-FEB", "cron_month"),
        ("0 0 * * SAT-SUN", "The range SAT-SUN runs backwards: write SAT-6,0-SUN", "cron_weekday"),
        ("0 0 L/5 * *", "L is one day, which has no step", "cron_day"),
        ("0 0 LW/2 * *", "LW is one day, which has no step", "cron_day"),
        ("0 0 15W * *", "The day of the month (3rd field)", "cron_day"),
        ("0 0 * * MON#6", "The day of the week (5th field)", "cron_weekday"),
        ("0 0 ? * *", "The day of the month (3rd field)", "cron_day"),
        ("60 * * * *", "The minute (1st field)", "cron_minute"),
        ("0 0 31 2 *", "The day of the month (3rd field)", "cron_day"),
        ("@daily", "@daily is a short form that is not supported: write 0 0 * * *.", "cron_fields"),
        (" @Hourly ", "@Hourly is a short form that is not supported: write 0 * * * *.", "cron_fields"),
        ("0 0 9 * * 1", "leave out that of the seconds", "cron_fields"),
    ],
)
def test_a_line_that_would_be_due_otherwise_than_it_reads_is_refused(cron: str, said: str, fault: CronFault) -> None:
    with pytest.raises(InvalidError) as refused:
        LINES.check(cron, field="body.cron")
    assert said in str(refused.value)
    assert refused.value.fault == fault


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("*/60 * * * *", ["01-02 13:00", "01-02 14:00"]),
        ("*/45 * * * *", ["01-02 12:45", "01-02 13:00"]),
        ("0 */24 * * *", ["01-03 00:00", "01-04 00:00"]),
        ("0 0 1 */12 *", ["01-01 00:00", "01-01 00:00"]),
        ("0 0 * * */7", ["01-04 00:00", "01-11 00:00"]),
        ("0 0 * JUL/3 MON", ["07-06 00:00", "07-13 00:00"]),
        ("0 0 L * *", ["01-31 00:00", "02-28 00:00"]),
        ("0 0 LW * *", ["01-30 00:00", "02-27 00:00"]),
        ("0 0 * * 5L", ["01-30 00:00", "02-27 00:00"]),
        ("0 0 * * mon#1", ["01-05 00:00", "02-02 00:00"]),
        ("0 0 * * 5-7", ["01-03 00:00", "01-04 00:00"]),
    ],
)
def test_unusual_lines_that_are_taken_are_due_as_they_read(cron: str, expected: list[str]) -> None:
    assert times(cron, "2026-01-02T12:00", 2, "UTC") == expected


def test_a_line_that_was_taken_before_it_was_refused_stays_due() -> None:
    assert times("*/90 * * * *", "2026-01-02T12:00", 2, "UTC") == ["01-02 13:00", "01-02 14:00"]


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
