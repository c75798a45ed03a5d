"""Tool results that are too long for the model's window: which part it reads, and where the rest is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from backend_api.agent.conversation import Conversation
from backend_api.agent.events import ToolCalled
from backend_api.agent.model import Turn
from backend_api.agent.shortening import head_and_tail
from backend_api.agent.sizes import CountTokens, count_estimated, most_tokens, texts_of, tokens_of
from backend_api.agent.thread import MAX_RESULT_CHARACTERS
from backend_api.agent.tool import Done

LEAST_TOKENS = 500
"""The least tokens of a result, however little room is left."""
SHARE_OF_ANSWER = 4
"""The divisor of the window that bounds the room kept for the next answer."""
KEPT = (
    "\n[... {count} characters left out. All of the result stands in the file {path}: read on there by parts, such as "
    "some of its lines ...]\n"
)
NOT_KEPT = "\n[... {count} characters left out, which are kept nowhere that you can read: ask for less at a time ...]\n"

KeepResult = Callable[[ToolCalled, str], Awaitable[str | None]]
"""Keeps the whole result of a call for the agent, and returns its path in the workspace, or None without a
workspace."""


async def not_kept(called: ToolCalled, output: str) -> None:
    """Keep nothing."""
    del called, output


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The room that the results of a step share: the conversation before them, the `read` tokens that the last answer
    read and wrote (0 if its provider did not report them), and the number of `calls`. `instructions` are those of
    folders that the agent knows by now, by their files' paths."""

    conversation: Conversation
    calls: int
    read: int = 0
    instructions: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLimits:
    """Sizes in tokens: the `window` of the agent's model, and how much of it is kept for an `answer`."""

    window: int
    answer: int
    count_tokens: CountTokens = count_estimated
    keep: KeepResult = not_kept

    async def fitted(self, called: ToolCalled, done: Done, room: Room) -> Done:
        """The result cut to the room it has, if it is too long: head and tail, and a reference to the whole."""
        output = done.output
        most = most_tokens(output) if len(output) <= MAX_RESULT_CHARACTERS else None
        if most is not None and (most <= LEAST_TOKENS or most <= self._tokens_each(room, _max_tokens_used(room))):
            return done
        tokens = self._tokens_each(room, await self._tokens_used(room))
        counted = await self.count_tokens([output])
        if most is not None and counted <= tokens:
            return done
        path = await self.keep(called, output)
        limit = min(MAX_RESULT_CHARACTERS, len(output) * tokens // max(counted, 1))
        read = cut(output, limit, path)
        while limit > LEAST_TOKENS and await self.count_tokens([read]) > tokens:
            # The part that is kept may have more tokens per character than the rest.
            limit = limit * 3 // 4
            read = cut(output, limit, path)
        return replace(done, read=read)

    def _tokens_each(self, room: Room, used: int) -> int:
        left = self.window - used - min(self.answer, self.window // SHARE_OF_ANSWER)
        return max(left // max(room.calls, 1), LEAST_TOKENS)

    async def _tokens_used(self, room: Room) -> int:
        known = room.conversation
        return room.read or known.context_tokens + await self.count_tokens(texts_of(_uncounted(known)))


def _max_tokens_used(room: Room) -> int:
    """An upper bound, computed from bytes alone."""
    return room.read or room.conversation.context_tokens + tokens_of(_uncounted(room.conversation), most_tokens)


def _uncounted(conversation: Conversation) -> Sequence[Turn]:
    """The turns since the last model call."""
    return conversation.turns[conversation.uncounted_from :]


def cut(text: str, limit: int, path: str | None) -> str:
    """Head and tail of the text, about `limit` characters with the mark between them that states what is left out."""
    mark = KEPT if path is not None else NOT_KEPT
    keep = max(limit - len(mark.format(count=len(text), path=path)), 0)
    return head_and_tail(text, keep, mark.format(count=len(text) - keep, path=path))
