"""The messages of a session on all of its paths, as a tree."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backend_api.agent.path import WHOLE, Path, merged, without
from backend_api.kit.errors import ConflictError, NotFoundError, UnavailableError

_MOST_TITLE = 200
_HAN, _OTHER_EAST_ASIAN = re.compile("[\u4e00-\u9fff]"), re.compile("[\u3040-\u30ff\uac00-\ud7af]")


def title_of_branch(title: str) -> str:
    """The title of a conversation that branches off one of this title, in the language of that; none if it has none."""
    is_chinese = _HAN.search(title) is not None and _OTHER_EAST_ASIAN.search(title) is None
    mark = "（分支）" if is_chinese else " (branch)"
    return title[: _MOST_TITLE - len(mark)] + mark if title else ""


class MessageNotFoundError(NotFoundError):
    """The session has no such message, or it was deleted with its branch."""

    code = "message_not_found"


class MessageReadError(ConflictError):
    """The agent has read the message, or no run is active that will; nothing was changed."""

    code = "message_read"


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
    """A message of the person or of the main agent. One of the person's stands below the event `after`, if the agent
    had not read it by then (`ShownOrder`); its first event is `begin`, where a schedule sent it. 0 is its own
    number."""

    seq: int
    is_user: bool
    after: int = 0
    begin: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """Sorts it into the order shown: below the events up to the first number."""
        return (max(self.after, self.seq), self.seq) if self.is_user else (self.seq, 0)


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
    first the whole log is one. What is before a message is what is shown above it, which is no prefix of the log if
    others were sent meanwhile. The path to a message never changes once its run is over: later selections leave the
    events before it as they were."""

    paths: Sequence[Path]
    said: Sequence[LoggedMessage]
    deleted: frozenset[int]
    last_seq: int
    whole: Path = WHOLE
    """The path before the first selected one."""
    _numbers: list[int] = field(default_factory=list[int])
    _by_seq: dict[int, LoggedMessage] = field(default_factory=dict[int, LoggedMessage])
    _moved: list[LoggedMessage] = field(default_factory=list[LoggedMessage])
    """Messages that are shown below events that follow them."""
    _parents: dict[int, int] = field(default_factory=dict[int, int])
    _gone: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        self._numbers = [one.seq for one in self.said]
        self._by_seq = {one.seq: one for one in self.said}
        self._moved = [one for one in self.said if one.is_user and one.after > one.seq]
        for one in self._in_order():
            before = self.last_message(self.before(one.seq))
            self._parents[one.seq] = before
            if one.seq in self.deleted or before in self._gone:
                self._gone.add(one.seq)

    @property
    def shown(self) -> Path:
        """The path that is shown."""
        return self.paths[-1] if self.paths else self.whole

    def until(self, seq: int) -> list[list[int]]:
        """The path that ends with this event, as the conversation is shown."""
        return self._path_to(seq, is_with=True)

    def before(self, seq: int) -> list[list[int]]:
        """The path that ends above this event."""
        return self._path_to(seq, is_with=False)

    def newest_with(self, seq: int) -> list[list[int]] | None:
        """The newest path that has this message, None if it is the one shown."""
        ends = [*(path.since for path in self.paths), self.last_seq + 1]
        for path, end in reversed(list(zip([self.whole, *self.paths], ends, strict=True))):
            if seq >= end or not path.has(seq):
                continue
            ranges = merged(path.until(end - 1))
            if self.last_message(ranges) not in self._gone:
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

    def last_message(self, ranges: Sequence[Sequence[int]]) -> int:
        """The number of the message that is shown last of those in these ranges, 0 for none."""
        last = LoggedMessage(0, is_user=False)
        for begin, end in reversed(ranges):
            at = bisect_right(self._numbers, end)
            if at and self._numbers[at - 1] >= begin:
                last = self._by_seq[self._numbers[at - 1]]
                break
        for one in self._moved:
            if one.place > last.place and any(begin <= one.seq <= end for begin, end in ranges):
                last = one
        return last.seq

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
        return self.paths[at - 1] if at else self.whole

    def _path_to(self, seq: int, *, is_with: bool) -> list[list[int]]:
        said = self._by_seq.get(seq)
        place = said.place if said is not None else (seq, 0)
        ranges = merged(self._path_of(seq).until(place[0]))
        # Some of the messages logged before its end are shown below it.
        out = [one for one in self._moved if one.seq < place[0] and one.place > place]
        if not is_with:
            out.append(said if said is not None else LoggedMessage(seq, is_user=False))
        for one in out:
            ranges = without(ranges, range(one.begin or one.seq, one.seq + 1))
        return ranges

    def _in_order(self) -> list[LoggedMessage]:
        return sorted(self.said, key=lambda one: one.place)

    def _counts(self) -> Mapping[int, int]:
        counts = dict.fromkeys(self._numbers, 1)
        for seq in (one.seq for one in reversed(self._in_order())):
            if seq in self._gone:
                counts[seq] = 0
            elif (parent := self._parents[seq]) in counts:
                counts[parent] += counts[seq]
        return counts


def index_of(numbers: Sequence[int], seq: int) -> int:
    """The number of numbers up to this one: the number's new value when they are counted from 1."""
    return bisect_left(numbers, seq + 1)
