"""Errors of schedules."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, LimitError, NotFoundError, UnavailableError


class ScheduleNotFoundError(NotFoundError):
    """No such schedule, or another user's."""

    code = "schedule_not_found"


class ScheduleQuotaError(LimitError):
    """The user has reached the limit of schedules."""

    code = "schedule_quota"

    @classmethod
    def of(cls, at_most: int) -> ScheduleQuotaError:
        """The error for a user who has `at_most`."""
        return cls(f"You have {at_most} schedules, which is the maximum. Delete some first.", retry_after_s=60)


class ScheduleBusyError(UnavailableError):
    """It was changed by others again and again; nothing was stored."""

    code = "schedule_busy"


class AccountDisabledError(ConflictError):
    """The account of a schedule's user is disabled; nothing was sent."""

    code = "account_disabled"
