"""The messages of a session on all of its paths, as a tree."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backend_api.agent.path import WHOLE, Path, merged
from backend_api.kit.errors import ConflictError, NotFoundError, UnavailableError


class MessageNotFoundError(NotFoundError):
    """The session has no such message, or it was deleted with its branch."""

    code = "message_not_found"


class RunActiveError(ConflictError):
    """A run of the session has not ended; nothing was changed."""

    code = "run_active"


class RequestRepeatedError(ConflictError):
    """Another request of this name was done meanwhile; nothing was changed."""

    code = "request_repeated"


class RequestDiffersError(ConflictError):
    """A different request was made under this `client_request_id`; nothing was changed."""

    code = "request_differs"


class BranchBeginsError(UnavailableError):
    """The same request is at work on the new conversation."""

    code = "branch_begins"


class NotEditableError(ConflictError):
    """The message is not one of the person's."""

    code = "not_editable"


class AttachmentGoneError(ConflictError):
    """A file of the message is no longer in the workspace; nothing was changed."""

    code = "attachment_gone"


class BranchShownError(ConflictError):
    """The message is on the path that is shown; nothing was deleted."""

    code = "branch_shown"


class BranchGrewError(ConflictError):
    """The branch has a different number of messages than the caller gave; nothing was deleted."""

    code = "branch_grew"


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A message of the person or of the main agent."""

    seq: int
    is_user: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A branch of a fork: its first message, and the number of its messages, including that one."""

    seq: int
    messages: int
    is_shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """The place after the message `after_seq` (0 for the beginning) with several branches, or with one that is not
    shown."""

    after_seq: int
    children: list[Child]


@dataclass(slots=True)
class Tree:
    """The messages and paths of a session. `paths` are the selected ones, in order, each with its `since`; before the
    first the whole log is one. The path to a message never changes: later selections leave the events before it as they
    were."""

    paths: Sequence[Path]
    said: Sequence[LoggedMessage]
    deleted: frozenset[int]
    last_seq: int
    _numbers: list[int] = field(default_factory=list[int])
    _parents: dict[int, int] = field(default_factory=dict[int, int])
    _gone: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        self._numbers = [one.seq for one in self.said]
        for one in self.said:
            before = self._last_message(self._path_of(one.seq).until(one.seq - 1))
            self._parents[one.seq] = before
            if one.seq in self.deleted or before in self._gone:
                self._gone.add(one.seq)

    @property
    def shown(self) -> Path:
        """The path that is shown."""
        return self.paths[-1] if self.paths else WHOLE

    def until(self, seq: int) -> list[list[int]]:
        """The path that ends with this event."""
        return merged(self._path_of(seq).until(seq))

    def newest_with(self, seq: int) -> list[list[int]] | None:
        """The newest path that has this message, None if it is the one shown."""
        ends = [*(path.since for path in self.paths), self.last_seq + 1]
        for path, end in reversed(list(zip([WHOLE, *self.paths], ends, strict=True))):
            if seq >= end or not path.has(seq):
                continue
            ranges = merged(path.until(end - 1))
            if self._last_message(ranges) not in self._gone:
                return None if path is self.shown else ranges
        return self.until(seq)

    def last_user(self, ranges: Sequence[Sequence[int]]) -> int:
        """The number of the person's last message in these ranges, 0 for none."""
        last = 0
        for one in self.said:
            if one.is_user and any(first <= one.seq <= end for first, end in ranges):
                last = one.seq
        return last

    def question_of(self, seq: int) -> int:
        """The person's message that this one answers: itself, or the last one before it; 0 for none."""
        users = {one.seq for one in self.said if one.is_user}
        while seq and seq not in users:
            seq = self._parents.get(seq, 0)
        return seq

    def has_message(self, seq: int) -> bool:
        """Whether this is a message that was not deleted with its branch."""
        return seq in self._parents and seq not in self._gone

    def count(self, seq: int) -> int:
        """The number of messages from this one on, on all paths, including itself."""
        return self._counts()[seq]

    def forks(self) -> list[Fork]:
        """The forks of the path shown."""
        counts, children = self._counts(), dict[int, list[int]]()
        for seq in self._numbers:
            if seq not in self._gone:
                children.setdefault(self._parents[seq], []).append(seq)
        shown = self.shown
        found: list[Fork] = []
        for after, ways in children.items():
            if len(ways) > 1 or not shown.has(ways[0]):
                if after and not shown.has(after):
                    continue
                told = [Child(seq=seq, messages=counts[seq], is_shown=shown.has(seq)) for seq in ways]
                found.append(Fork(after_seq=after, children=told))
        return found

    def _path_of(self, seq: int) -> Path:
        """The path that was shown when this event was stored."""
        at = bisect_right([path.since for path in self.paths], seq)
        return self.paths[at - 1] if at else WHOLE

    def _last_message(self, ranges: Sequence[Sequence[int]]) -> int:
        for first, last in reversed(ranges):
            at = bisect_right(self._numbers, last)
            if at and self._numbers[at - 1] >= first:
                return self._numbers[at - 1]
        return 0

    def _counts(self) -> Mapping[int, int]:
        counts = dict.fromkeys(self._numbers, 1)
        for seq in reversed(self._numbers):
            if seq in self._gone:
                counts[seq] = 0
            elif (parent := self._parents[seq]) in counts:
                counts[parent] += counts[seq]
        return counts


def index_of(numbers: Sequence[int], seq: int) -> int:
    """The number of numbers up to this one: the number's new value when they are counted from 1."""
    return bisect_left(numbers, seq + 1)
