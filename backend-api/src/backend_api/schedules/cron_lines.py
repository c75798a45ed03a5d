"""`CronLines` by cronsim, which handles changes of the clocks as Debian's cron does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from backend_api.kit.errors import InvalidError
from backend_api.schedules.ports import CronFault

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
_VALUES: dict[str, tuple[int, int]] = {
    "minute": (0, 59),
    "hour": (0, 23),
    "day-of-month": (1, 31),
    "month": (1, 12),
    "day-of-week": (0, 6),
}
_NAMES: dict[str, tuple[int, tuple[str, ...]]] = {
    "month": (1, ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")),
    "day-of-week": (0, ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")),
}
_SHORT_FORMS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_HOW = "A cron line has five fields, minute, hour, day of month, month, day of week: 0 9 * * 1-5 is 9:00 on workdays."
_MAX_ZONE_CHARACTERS = 100


class CronsimLines:
    """`CronLines`."""

    def check(self, cron: str, *, field: str) -> None:
        """Check also that it is ever due, and that cronsim reads it as it is written."""
        self._check_readable(cron, field)
        for name in _FIELDS:
            _check_terms(name, cron, field)

    def _check_readable(self, cron: str, field: str) -> None:
        # In a line of six fields cronsim reads the first as seconds.
        if len(cron.split()) != 5:
            raise _refusal("cron_fields", f"{_wrong_number(cron)} {_HOW}", field)
        try:
            is_ever_due = next(CronSim(cron, datetime.now(UTC)), None) is not None
        except CronSimError as error:
            wrong = str(error).removeprefix("Bad ")
            _check_terms(wrong, cron, field)
            fault, said = _FIELDS.get(wrong, (None, wrong))
            raise _refusal(fault, f"{said} {_HOW}", field) from error
        if not is_ever_due:
            said = "No day of the next fifty years fits this line: it would never be due."
            raise _refusal("cron_never_due", said, field)

    def check_zone(self, timezone: str, *, field: str) -> None:
        """Check against the zones of the machine, or of the package tzdata."""
        _zone(timezone, field)

    def local(self, at: datetime, timezone: str) -> datetime:
        """Use the first of two possible offsets."""
        return at.replace(tzinfo=_zone(timezone, "timezone"), fold=0).astimezone(UTC)

    def times(self, cron: str, timezone: str, after: datetime) -> Iterator[datetime]:
        """Leave out earlier times: when an hour repeats, cronsim may begin with its first pass even if `after` is in
        the second."""
        self._check_readable(cron, "cron")
        for at in CronSim(cron, after.astimezone(_zone(timezone, "timezone"))):
            if (in_utc := at.astimezone(UTC)) > after:
                yield in_utc


def _wrong_number(cron: str) -> str:
    written = _SHORT_FORMS.get(cron.strip().lower())
    if written is not None:
        return f"{cron.strip()} is a short form that is not supported: write {written}."
    count = len(cron.split())
    if count == 6:
        return "This has 6 fields: leave out that of the seconds, or that of the year."
    return f"This has {count} field{'' if count == 1 else 's'}."


def _check_terms(name: str, cron: str, field: str) -> None:
    if name in _FIELDS:
        text = cron.upper().split()[[*_FIELDS].index(name)]
        for term in text.split(","):
            _check_term(name, term, field)


def _check_term(name: str, term: str, field: str) -> None:
    """Refuse what cronsim accepts but reads differently, or refuses without a reason: steps that never reach a second
    value, steps of a single last day, and ranges that run backwards."""
    fault, said = _FIELDS[name]
    spread, slash, step = term.partition("/")
    first, dash, last = spread.partition("-")
    begin, end = _value(name, first), _value(name, last)
    if dash and begin is not None and end is not None and end < begin:
        lowest, highest = _VALUES[name]
        instead = f"{first}-{highest},{lowest}-{last}"
        raise _refusal(fault, f"{said} The range {spread} runs backwards: write {instead}. {_HOW}", field)
    if not slash:
        return
    if spread.endswith(("L", "W")) and spread != "JUL":
        raise _refusal(fault, f"{said} {spread} is one day, which has no step: write {spread} alone. {_HOW}", field)
    if not re.fullmatch("[0-9]{1,9}", step) or int(step) == 0:
        raise _refusal(fault, f"{said} The step after the / is a number from 1 on. {_HOW}", field)
    most = _count(name, spread, begin, end)
    if most is not None and int(step) > most:
        reason = f"The step /{step} is larger than its range of {most}, so only one value of it would ever be due"
        raise _refusal(fault, f"{said} {reason}: give a step up to {most}, or that value alone. {_HOW}", field)


def _value(name: str, text: str) -> int | None:
    """The number of a value; None if it is invalid, which cronsim refuses."""
    begin, names = _NAMES.get(name, (0, ()))
    if text in names:
        return begin + names.index(text)
    return int(text) if re.fullmatch("[0-9]{1,3}", text) else None


def _count(name: str, spread: str, begin: int | None, end: int | None) -> int | None:
    """The number of values that the step divides."""
    lowest, highest = _VALUES[name]
    if spread == "*":
        return highest - lowest + 1
    if begin is None:
        return None
    return (highest if end is None else end) - begin + 1


def _refusal(fault: CronFault | None, said: str, field: str) -> InvalidError:
    return InvalidError(said, field=field, fault=fault)


def _zone(timezone: str, field: str) -> ZoneInfo:
    try:
        if len(timezone) <= _MAX_ZONE_CHARACTERS:
            return ZoneInfo(timezone)
    # A folder of zones, such as "Europe", raises an OSError.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    reason = "There is no such time zone. Give its IANA name, such as Europe/Berlin, Asia/Shanghai or UTC."
    raise InvalidError(reason, field=field)
