"""`CronLines` by cronsim, which does at the change of the clocks what Debian's cron does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from backend_api.domain.errors import InvalidError
from backend_api.domain.schedules.ports import CronFault

_FIELDS: dict[str, tuple[CronFault, str]] = {
    "minute": ("cron_minute", "The minute (1st field) is wrong: 0 to 59."),
    "hour": ("cron_hour", "The hour (2nd field) is wrong: 0 to 23."),
    "day-of-month": (
        "cron_day",
        "The day of the month (3rd field) is wrong: 1 to 31, one that the month has, or L for the last.",
    ),
    "month": ("cron_month", "The month (4th field) is wrong: 1 to 12, or JAN to DEC."),
    "day-of-week": ("cron_weekday", "The day of the week (5th field) is wrong: 0 to 7, or SUN to SAT."),
}
_HOW = "A cron line has five fields, minute, hour, day of month, month, day of week: 0 9 * * 1-5 is 9:00 on workdays."
_MAX_ZONE_CHARACTERS = 100


class CronsimLines:
    """`CronLines`."""

    def check(self, cron: str, *, field: str) -> None:
        """Also that it is ever due."""
        # Six fields are seconds first, for cronsim.
        if len(cron.split()) != 5:
            raise _refusal("cron_fields", f"This has {len(cron.split())} fields. {_HOW}", field)
        try:
            is_ever_due = next(CronSim(cron, datetime.now(UTC)), None) is not None
        except CronSimError as error:
            wrong = str(error).removeprefix("Bad ")
            fault, said = _FIELDS.get(wrong, (None, wrong))
            raise _refusal(fault, f"{said} {_HOW}", field) from error
        if not is_ever_due:
            said = "No day of the next fifty years fits this line: it would never be due."
            raise _refusal("cron_never_due", said, field)

    def check_zone(self, timezone: str, *, field: str) -> None:
        """By the zones that the machine, or the package tzdata, has."""
        _zone(timezone, field)

    def local(self, at: datetime, timezone: str) -> datetime:
        """By the first of two offsets."""
        return at.replace(tzinfo=_zone(timezone, "timezone"), fold=0).astimezone(UTC)

    def times(self, cron: str, timezone: str, after: datetime) -> Iterator[datetime]:
        """From the second time of an hour that is there twice cronsim may begin with the first one: left out."""
        self.check(cron, field="cron")
        for at in CronSim(cron, after.astimezone(_zone(timezone, "timezone"))):
            if (in_utc := at.astimezone(UTC)) > after:
                yield in_utc


def _refusal(fault: CronFault | None, said: str, field: str) -> InvalidError:
    return InvalidError(said, field=field, fault=fault)


def _zone(timezone: str, field: str) -> ZoneInfo:
    try:
        if len(timezone) <= _MAX_ZONE_CHARACTERS:
            return ZoneInfo(timezone)
    # A folder of zones, such as "Europe", is an OSError.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    reason = "There is no such time zone. Give its IANA name, such as Europe/Berlin, Asia/Shanghai or UTC."
    raise InvalidError(reason, field=field)
