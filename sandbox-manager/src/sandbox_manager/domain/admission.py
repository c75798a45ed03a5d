"""Who may have a sandbox, and who goes first when there is not room for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sandbox_manager.domain.errors import TotalLimitError, UserLimitError, UserTotalLimitError
from sandbox_manager.domain.sandbox import ANY_PLACE, Cleanup, Sandbox, Status

_RETRY_AFTER_S = 30
_ABANDONED = "Nobody waits for it any more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many sandboxes may live, and for how long.

    `max_per_user` counts what runs or waits, `max_per_user_total` what is paused too, `max_total` what takes up memory.
    One that nobody used for `spare` gives its place to another session of the same user.
    """

    max_per_user: int
    max_total: int
    hard: timedelta
    idle: timedelta
    max_per_user_total: int = 10_000
    max_queued: int = 100
    spare: timedelta = timedelta(minutes=1)
    queue: timedelta = timedelta(minutes=5)
    abandoned: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """For how many sandboxes more the machine has memory, what starts right now counted as if it had taken its share.

    `free` is None where nobody can tell.
    """

    free: int | None = None
    need: int = 0
    reserve: int = 0

    def fits(self, starting: int) -> bool:
        return self.free is None or self.free - self.reserve - starting * self.need >= self.need

    def wakes(self, starting: int) -> bool:
        """Whether a paused one may go on: it holds its memory already, and will want more."""
        return self.free is None or self.free - self.reserve - starting * self.need >= 0


def line(occupied: Sequence[Sandbox]) -> list[Sandbox]:
    """Those who wait, in order: all users' first ones by their arrival, then all second ones, and so on."""
    waiting = sorted((one for one in occupied if one.waits), key=lambda one: (_since(one), one.id))
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, Sandbox]] = []
    for one in waiting:
        ranked.append((seen[one.identity.user_id], one))
        seen[one.identity.user_id] += 1
    return [one for _, one in sorted(ranked, key=lambda entry: entry[0])]


def position(occupied: Sequence[Sandbox], sandbox_id: str) -> int | None:
    """Place in the line, 1 is next; None for one that does not wait."""
    return next((place for place, one in enumerate(line(occupied), 1) if one.id == sandbox_id), None)


def check_user(occupied: Sequence[Sandbox], user_id: str, limits: Limits) -> None:
    """Raises `UserLimitError`, `UserTotalLimitError`, `TotalLimitError`."""
    own = [one for one in occupied if one.identity.user_id == user_id]
    _check_running(own, limits)
    if len(own) >= limits.max_per_user_total:
        raise UserTotalLimitError(
            f"You already have {len(own)} computers, paused ones included, which is the maximum. "
            "Delete a conversation.",
            retry_after_s=_RETRY_AFTER_S,
        )
    if sum(1 for one in occupied if one.waits) >= limits.max_queued:
        raise TotalLimitError(
            "All computers of this deployment are in use, and too many wait for one already. Try again in a while.",
            retry_after_s=_RETRY_AFTER_S,
        )


def check_waking(occupied: Sequence[Sandbox], sandbox: Sandbox, limits: Limits) -> None:
    """A user's paused one counts as running again. Raises `UserLimitError`."""
    user_id = sandbox.identity.user_id
    _check_running([one for one in occupied if one.identity.user_id == user_id and one.id != sandbox.id], limits)


def spare(own: Sequence[Sandbox], limits: Limits, now: datetime) -> Sandbox | None:
    """The running one of a user at the limit whose place another may have; None where all were used of late."""
    if sum(1 for one in own if one.status is not Status.PAUSED or one.waits) < limits.max_per_user:
        return None
    unused_since = now - limits.spare
    unused = [one for one in own if one.status is Status.READY and one.idle_expires_at - limits.idle <= unused_since]
    return min(unused, key=lambda one: one.idle_expires_at, default=None)


def admissible(occupied: Sequence[Sandbox], limits: Limits, room: Room, here: str) -> list[Sandbox]:
    """Those of the line for whom there is room now, at this place; a paused one takes up no new place, so it need not
    wait for those who do."""
    taken = sum(1 for one in occupied if one.holds_memory)
    starting = sum(1 for one in occupied if one.status is Status.STARTING)
    admitted: list[Sandbox] = []
    is_full = False
    for one in line(occupied):
        if not _may_be(one, here):
            continue
        if one.status is Status.PAUSED:
            if room.wakes(starting):
                admitted.append(one)
            continue
        is_full = is_full or taken >= limits.max_total or not room.fits(starting)
        if is_full:
            continue
        admitted.append(one)
        taken += 1
        starting += 1
    return admitted


def given_up(sandbox: Sandbox, now: datetime, limits: Limits, room: Room, here: str) -> Sandbox | None:
    """One that waited in vain, or that nobody waits for any more; None while it may go on waiting. The room is that of
    this place."""
    if not sandbox.waits:
        return None
    is_paused = sandbox.status is Status.PAUSED
    if (sandbox.asked_at or sandbox.created_at) + limits.abandoned <= now:
        over = sandbox.left_asleep() if is_paused else sandbox.retired(_ABANDONED, Cleanup.KEEP_WORKSPACE)
    elif _since(sandbox) + limits.queue <= now:
        reason = _in_vain(sandbox, limits, room, here)
        over = sandbox.left_asleep(reason) if is_paused else sandbox.failed(reason, retryable=True)
    else:
        return None
    if is_paused:
        return over
    return replace(over, occupied=False, cleanup=Cleanup.NONE, settled_at=now) if over else None


def _since(sandbox: Sandbox) -> datetime:
    return sandbox.waking_since or sandbox.created_at


def _check_running(own: Sequence[Sandbox], limits: Limits) -> None:
    active = sum(1 for one in own if one.runs or one.waits or not one.lives)
    if active >= limits.max_per_user:
        raise UserLimitError(
            f"You already have {active} running {'computer' if active == 1 else 'computers'}, which is the maximum. "
            f"Delete a conversation, or wait until nobody has used one of them for {limits.spare.total_seconds():g} "
            "seconds: it is taken then.",
            retry_after_s=_RETRY_AFTER_S,
        )


def _may_be(sandbox: Sandbox, here: str) -> bool:
    return sandbox.place in ("", ANY_PLACE, here)


def _in_vain(sandbox: Sandbox, limits: Limits, room: Room, here: str) -> str:
    waited = f"{limits.queue.total_seconds() / 60:g} minutes"
    if not _may_be(sandbox, here):
        return (
            f"The machine that holds this session's files is unavailable, or had no capacity within {waited}. "
            "Try again later; if this persists, tell the administrator."
        )
    if sandbox.status is Status.PAUSED:
        return f"There was not enough free memory to wake this computer within {waited}. Try again later."
    if not room.fits(0):
        return f"There was not enough free memory for another computer within {waited}. Try again later."
    return f"No computer became free within {waited}: all {limits.max_total} are in use. Try again later."
