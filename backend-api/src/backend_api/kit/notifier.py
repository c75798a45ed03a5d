"""Wake-ups between processes."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Protocol


class Topic(StrEnum):
    """What a notification is about. The record it points at is the truth; each is also looked at without one."""

    RUN_QUEUED = "run.queued"
    """A run waits for a worker: the run's id. Workers look for such runs once a second."""
    RUN_ASSIGNED = "run.assigned"
    """A run was leased to a worker in another process: an `Assignment`. That lease lapses after a second."""
    SLOTS_FREE = "slots.free"
    """What a worker of its own process has room for, each second: `FreeSlots`. Else its runs are queued."""
    RUN_INBOX = "run.inbox"
    """Something lies in the inbox of a run at work: the run's id. The worker that holds it looks at each heartbeat."""
    QUEUE_DUE = "queue.due"
    """A queued message of a session may be due, as a run was completed: the session's id. Whoever sends them looks
    every ten seconds."""
    SCHEDULE_CHANGED = "schedule.changed"
    """A schedule may be due sooner than was known. Whoever sends their messages looks every fifteen seconds."""
    PORT_CLOSED = "port.closed"
    """An opened port was closed: its id. Gateways look at those in use every two seconds."""
    CONTROL_CHANGED = "control.changed"
    """Somebody took or lost control of a session's computer: the session's id. Sockets look once a second."""
    LOG_IN_ENDED = "log_in.ended"
    """Log-ins of a user ended: the user's id. Gateways look at what is open every two seconds."""


class Subscription(Protocol):
    """What one subscriber has not heard yet."""

    async def next(self, timeout_s: float) -> str | None:
        """The id of a notification; one that came before the call counts, those of the same id that were not heard yet
        are one, and of several ids any comes first. None after the time, and where the subscriber should look for
        itself: some may have been lost, or the notification names none. Raises nothing."""
        ...


class Notifier(Protocol):
    """Tells every subscriber, in every process. Losing any notification costs time and nothing else, so neither method
    raises for a lost backend. Who of many subscribers acts on one is decided by the record."""

    async def notify(self, topic: Topic, about: str | None = None) -> None:
        """Subscribers of this process are told before it returns. `about` is None for any record of the topic."""
        ...

    def subscribe(self, topic: Topic, about: str | None = None) -> AbstractAsyncContextManager[Subscription]:
        """To one id, or to the whole topic. What is notified once the block is entered is heard."""
        ...
