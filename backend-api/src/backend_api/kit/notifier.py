"""Wake-ups between processes."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Protocol


class Topic(StrEnum):
    """The subject of a notification. The record it points at is the truth; each is also polled, in case one is lost."""

    RUN_QUEUED = "run.queued"
    """A run waits for a worker: the run's id. Workers also poll once a second."""
    RUN_ASSIGNED = "run.assigned"
    """A run was leased to a worker in another process: an `Assignment`. Unconfirmed, the lease lapses after a
    second."""
    SLOTS_FREE = "slots.free"
    """The free slots of a worker in a process of its own, each second: `FreeSlots`. Without it runs are queued."""
    RUN_INBOX = "run.inbox"
    """The inbox of an active run has a message: the run's id. The worker that holds it also looks at each heartbeat."""
    QUEUE_DUE = "queue.due"
    """A queued message of a session may be due, as a run was completed: the session's id. The sender also polls every
    ten seconds."""
    SCHEDULE_CHANGED = "schedule.changed"
    """A schedule may be due sooner than before. The sender also polls every fifteen seconds."""
    PORT_CLOSED = "port.closed"
    """An opened port was closed: its id. Gateways also check those in use every two seconds."""
    CONTROL_CHANGED = "control.changed"
    """Somebody took or lost control of a session's computer: the session's id. Sockets also poll once a second."""
    LOG_IN_ENDED = "log_in.ended"
    """Log-ins of a user ended: the user's id. Gateways also check open connections every two seconds."""


class Subscription(Protocol):
    """The pending notifications of one subscriber."""

    async def next(self, timeout_s: float) -> str | None:
        """The id of a notification. One that came before the call counts, repeated ones of an id are merged, and
        several ids come in any order. None after the timeout, or if the subscriber should look for itself: some may
        have been lost, or the notification names none. Raises nothing."""
        ...


class Notifier(Protocol):
    """Notifies every subscriber, in every process. A lost notification only costs time, so neither method raises for a
    lost backend. The record decides which of several subscribers acts."""

    async def notify(self, topic: Topic, about: str | None = None) -> None:
        """Notifies; subscribers of this process before it returns. An `about` of None means any record of the topic."""
        ...

    def subscribe(self, topic: Topic, about: str | None = None) -> AbstractAsyncContextManager[Subscription]:
        """Subscribes to one id, or to the whole topic. Notifications sent after the block is entered are received."""
        ...
