"""Admission of sandboxes, and the order of those that wait for room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sandbox_manager.domain.errors import TotalLimitError, UserQueueLimitError
from sandbox_manager.domain.sandbox import ANY_PLACE, Cleanup, Sandbox, Status
from service_kit.amounts import duration_text

_RETRY_AFTER_S = 30
_TICK = timedelta(milliseconds=1)
_ABANDONED = "Nobody waits for it any more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on the number and life of sandboxes.

    Per user, `max_per_user` counts what runs, `max_per_user_total` what is paused too, `max_queued_per_user` what waits
    to start; overall, `max_total` counts what takes up memory, `max_queued` what waits for it. Under a limit on memory
    a larger size counts as several. A sandbox unused for `spare` gives its place to another session of the same user.
    """

    max_per_user: int
    max_total: int
    hard: timedelta
    idle: timedelta
    max_per_user_total: int = 10_000
    max_queued: int = 100
    max_queued_per_user: int = 20
    spare: timedelta = timedelta(minutes=1)
    queue: timedelta = timedelta(minutes=5)
    abandoned: timedelta = timedelta(seconds=30)

    @property
    def running(self) -> int:
        """The number of a user's sandboxes that may run at once, under both limits."""
        return min(self.max_per_user, self.max_per_user_total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Memory of the machine for further sandboxes; those that start now count as if they had taken their share.

    `free` is None if it is unknown.
    """

    free: int | None = None
    need: int = 0
    reserve: int = 0

    def fits(self, starting: int, places: int = 1) -> bool:
        """Whether there is room for one that counts as `places`, beside those that start."""
        return self.free is None or self.free - self.reserve - starting * self.need >= places * self.need

    def wakes(self, starting: int) -> bool:
        """Whether a paused sandbox may go on: it holds its memory already, and will want more."""
        return self.free is None or self.free - self.reserve - starting * self.need >= 0


def line(occupied: Sequence[Sandbox]) -> list[Sandbox]:
    """The waiting sandboxes in order: each user's first by their arrival, then each user's second, and so on."""
    waiting = sorted((one for one in occupied if one.is_waiting), key=lambda one: (_waiting_since(one), one.id))
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, Sandbox]] = []
    for one in waiting:
        ranked.append((seen[one.identity.user_id], one))
        seen[one.identity.user_id] += 1
    return [one for _, one in sorted(ranked, key=lambda entry: entry[0])]


def within_user_limits(occupied: Sequence[Sandbox], limits: Limits) -> list[Sandbox]:
    """The waiting sandboxes whose users may have one more running, so that they wait for room alone.

    A paused one goes before its user's new ones: it may be waking up, which its record shows only once it runs. It
    counts towards its user's total already."""
    running, held = Counter[str](), Counter[str]()
    for one in occupied:
        running[one.identity.user_id] += one.places if one.is_running or not one.is_alive else 0
        held[one.identity.user_id] += one.places if one.holds_memory else 0
    waiting, allowed = line(occupied), set[str]()
    for one in sorted(waiting, key=lambda one: one.status is not Status.PAUSED):
        user_id, is_new = one.identity.user_id, one.status is Status.QUEUED
        over_total = is_new and held[user_id] + one.places > limits.max_per_user_total
        if running[user_id] + one.places > limits.running or over_total:
            continue
        running[user_id] += one.places
        held[user_id] += one.places if is_new else 0
        allowed.add(one.id)
    return [one for one in waiting if one.id in allowed]


QueueReason = Literal["capacity", "user_limit"]


class QueuePlace(NamedTuple):
    """A position in line, 1 is next, and the reason for waiting: room, or the user's own limit."""

    position: int
    reason: QueueReason


def place_in_line(occupied: Sequence[Sandbox], sandbox_id: str, limits: Limits) -> QueuePlace | None:
    """The place in line, None if the sandbox does not wait. Those that wait for others of the same user to end stand
    behind all who do not."""
    ahead = {one.id: None for one in within_user_limits(occupied, limits)}
    for place, one in enumerate([*ahead, *(one.id for one in line(occupied) if one.id not in ahead)], 1):
        if one == sandbox_id:
            return QueuePlace(place, "capacity" if one in ahead else "user_limit")
    return None


def check_line(occupied: Sequence[Sandbox], user_id: str, limits: Limits) -> None:
    """Check whether one more of a user's sandboxes may wait. Those that wait for another of the same user do not fill
    the line. Raises `UserQueueLimitError`, `TotalLimitError`."""
    waiting = sum(1 for one in occupied if one.identity.user_id == user_id and one.status is Status.QUEUED)
    if waiting >= limits.max_queued_per_user:
        raise UserQueueLimitError(
            f"{waiting} of your conversations wait for a computer already, which is the maximum. "
            "Wait until one of them has its computer, or delete a conversation.",
            retry_after_s=_RETRY_AFTER_S,
        )
    if len(within_user_limits(occupied, limits)) >= limits.max_queued:
        raise TotalLimitError(
            "All computers of this deployment are in use, and too many wait for one already. Try again in a while.",
            retry_after_s=_RETRY_AFTER_S,
        )


def waking_after(occupied: Sequence[Sandbox], sandbox: Sandbox, now: datetime) -> datetime:
    """The time since which a paused sandbox stands in line: behind all of its user's waiting ones, so that no two share
    the last place."""
    same = (one for one in occupied if one.identity.user_id == sandbox.identity.user_id and one.id != sandbox.id)
    return max([now, *(_waiting_since(one) + _TICK for one in same if one.is_waiting)])


def spare(own: Sequence[Sandbox], limits: Limits, now: datetime, *, coming: int = 0) -> Sandbox | None:
    """The running sandbox to give up for another of the same user, if more run and wait than may run; None if all were
    used of late. `coming` is the number of places of the one that is about to wait. What ends already makes room by
    itself."""
    if sum(one.places for one in own if one.is_running or one.is_waiting) + coming <= limits.running:
        return None
    unused_since = now - limits.spare
    unused = [one for one in own if one.status is Status.READY and one.idle_expires_at - limits.idle <= unused_since]
    return min(unused, key=lambda one: one.idle_expires_at, default=None)


def sleeper(own: Sequence[Sandbox], limits: Limits, *, coming: int = 0) -> Sandbox | None:
    """The paused sandbox to give up for a new one of the same user, if only the user's total is in its way. What ends
    already makes room by itself. `coming` is the number of places of the new one, unless it waits already."""
    wanted = coming or min((one.places for one in own if one.status is Status.QUEUED), default=1)
    running = sum(one.places for one in own if one.is_running or (one.holds_memory and one.is_waiting))
    is_full = sum(one.places for one in own if one.holds_memory) + wanted > limits.max_per_user_total
    if running + wanted > limits.running or not is_full or any(not one.is_alive for one in own):
        return None
    asleep = (one for one in own if one.status is Status.PAUSED and not one.is_waiting)
    return min(asleep, key=lambda one: one.idle_expires_at, default=None)


def admissible(occupied: Sequence[Sandbox], limits: Limits, room: Room, here: str) -> list[Sandbox]:
    """The waiting sandboxes that there is room for now, at this place; a paused one takes up no new place, so it need
    not wait for those who do."""
    taken = sum(one.places for one in occupied if one.holds_memory)
    starting = sum(one.places for one in occupied if one.status is Status.STARTING)
    admitted: list[Sandbox] = []
    is_full = False
    for one in within_user_limits(occupied, limits):
        if not _may_run_at(one, here):
            continue
        if one.status is Status.PAUSED:
            if room.wakes(starting):
                admitted.append(one)
            continue
        is_full = is_full or taken + one.places > limits.max_total or not room.fits(starting, one.places)
        if is_full:
            continue
        admitted.append(one)
        taken += one.places
        starting += one.places
    return admitted


def given_up(
    sandbox: Sandbox, occupied: Sequence[Sandbox], now: datetime, limits: Limits, room: Room, here: str
) -> Sandbox | None:
    """The sandbox given up, if it waited in vain or nobody waits for it any more; None while it may go on waiting. The
    room is that of this place."""
    if not sandbox.is_waiting:
        return None
    is_paused = sandbox.status is Status.PAUSED
    if (sandbox.asked_at or sandbox.created_at) + limits.abandoned <= now:
        over = sandbox.left_paused() if is_paused else sandbox.retired(_ABANDONED, Cleanup.KEEP_WORKSPACE)
    elif _waiting_since(sandbox) + limits.queue <= now:
        stands = place_in_line(occupied, sandbox.id, limits)
        is_users = stands is not None and stands.reason == "user_limit"
        reason = _limit_text(sandbox, limits) if is_users else _timeout_text(sandbox, limits, room, here)
        over = sandbox.left_paused(reason) if is_paused else sandbox.failed(reason, retryable=True)
    else:
        return None
    if is_paused:
        return over
    return replace(over, occupied=False, cleanup=Cleanup.NONE, settled_at=now) if over else None


def _waiting_since(sandbox: Sandbox) -> datetime:
    return sandbox.waking_since or sandbox.created_at


def _limit_text(sandbox: Sandbox, limits: Limits) -> str:
    count, one = limits.running, limits.running == 1
    if sandbox.places > 1:
        return (
            f"This computer counts as {sandbox.places} of the {count} that you may have running, by its memory, and "
            f"those you have were in use for {_minutes(limits.queue)}. Delete a conversation, or try again later."
        )
    return (
        f"You already have {count} running {'computer' if one else 'computers'}, which is the maximum, and "
        f"{'it was' if one else 'all were'} in use for {_minutes(limits.queue)}. "
        "Delete a conversation, or try again later."
    )


def _minutes(span: timedelta) -> str:
    return duration_text(span)


def _may_run_at(sandbox: Sandbox, here: str) -> bool:
    return sandbox.place in ("", ANY_PLACE, here)


def _timeout_text(sandbox: Sandbox, limits: Limits, room: Room, here: str) -> str:
    waited = _minutes(limits.queue)
    if not _may_run_at(sandbox, here):
        return (
            f"The machine that holds this session's files is unavailable, or had no capacity within {waited}. "
            "Try again later; if this persists, tell the administrator."
        )
    if sandbox.status is Status.PAUSED:
        return f"There was not enough free memory to wake this computer within {waited}. Try again later."
    if not room.fits(0, sandbox.places):
        return f"There was not enough free memory for another computer within {waited}. Try again later."
    return f"No computer became free within {waited}: all {limits.max_total} are in use. Try again later."
