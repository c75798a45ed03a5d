"""The order in which a conversation is shown: a message of the person's that the agent had not read stands after what
the agent did meanwhile, though the log has it before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from backend_api.agent.events import (
    Event,
    MessageCompleted,
    MessageUser,
    MessageWithdrawn,
    PathSelected,
    RunFinished,
    RunStarted,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
    agent_of,
)

Item = TypeVar("Item")
WORK_TYPES = ("message.completed", "thinking.completed", "tool.called")
"""Types of events that tell up to where the agent had read (`seen_seq`)."""
ORDER_TYPES = ("message.user", *WORK_TYPES, "tool.finished", "run.started", "run.finished", "path.selected")
"""Types of events on which the order depends."""


@dataclass(frozen=True, slots=True)
class OrderMark:
    """What matters of an event of the main agent, or of the person. `seen_seq` is 0 where it is not known; of a message
    that was taken back it is the message's number."""

    seq: int
    type: str
    seen_seq: int = 0
    is_stop: bool = False


def mark_of(event: Event) -> OrderMark | None:
    """The mark of an event, None if the order does not depend on it."""
    payload, seq = event.payload, event.seq or 0
    if agent_of(payload) is not None:
        return None
    if isinstance(payload, MessageCompleted | ThinkingCompleted | ToolCalled):
        return OrderMark(seq, payload.type, payload.seen_seq)
    if isinstance(payload, RunFinished):
        return OrderMark(seq, payload.type, is_stop=payload.status == "stopped")
    if isinstance(payload, MessageWithdrawn):
        return OrderMark(seq, payload.type, payload.at_seq)
    if isinstance(payload, MessageUser | ToolFinished | RunStarted | PathSelected):
        return OrderMark(seq, payload.type)
    return None


@dataclass(slots=True)
class ShownOrder:
    """The order of the events applied so far, one at a time as the log has them. `after` has for each of the person's
    messages the number of the event below which it stands: its own, unless it is shown later."""

    after: dict[int, int] = field(default_factory=dict[int, int])
    pending: list[int] = field(default_factory=list[int])
    """Messages that the agent may not have read yet."""
    _has_worked: bool = False

    def apply(self, mark: OrderMark) -> bool:
        """Add the next event; whether the messages that are `pending` now stand below it."""
        if mark.type == "message.user":
            self.after[mark.seq] = mark.seq
            self.pending.append(mark.seq)
            return False
        if mark.type == "message.withdrawn":
            self.after.pop(mark.seen_seq, None)
            self.pending = [seq for seq in self.pending if seq != mark.seen_seq]
            return False
        is_above = False
        if mark.type in WORK_TYPES:
            self._has_worked = True
            self.pending = [seq for seq in self.pending if 0 < mark.seen_seq < seq]
            is_above = True
        elif mark.type == "tool.finished":
            is_above = self._has_worked
        elif mark.type == "run.finished":
            # A run that had done nothing is stopped below what it was to do.
            is_above, self._has_worked = mark.is_stop and self._has_worked, False
        else:
            self.pending, self._has_worked = [], False
        if is_above:
            self.after |= dict.fromkeys(self.pending, mark.seq)
        return is_above and bool(self.pending)


@dataclass(slots=True)
class Reordered(Generic[Item]):
    """Puts things that belong to events of a log into the order in which they are shown, as they come."""

    _order: ShownOrder = field(default_factory=ShownOrder)
    _held: list[tuple[int, Item | None]] = field(default_factory=list[Any])
    """From the first message on that may be shown later."""

    def add(self, event: Event, item: Item | None) -> list[Item]:
        """Add the next event's; returns what is certain to come next."""
        mark, seq = mark_of(event), event.seq or 0
        if isinstance(event.payload, MessageWithdrawn):
            self._held = [one for one in self._held if one[0] != event.payload.at_seq]
        is_above = mark is not None and self._order.apply(mark)
        waiting = set(self._order.pending)
        if is_above:
            # What is held beside the messages stands above this as well.
            free = [*(one for one in self._held if one[0] not in waiting), (seq, item)]
            self._held = [one for one in self._held if one[0] in waiting]
        else:
            self._held.append((seq, item))
            free = [] if waiting else self._held
            if not waiting:
                self._held = []
        return [one for _, one in free if one is not None]

    def rest(self) -> list[Item]:
        """What is still held, at the end."""
        held, self._held = self._held, []
        return [item for _, item in held if item is not None]
