"""What a model reads of a result that is longer than it can take, and where it finds the rest."""

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
"""Of a result, however little is left."""
SHARE_OF_ANSWER = 4
"""At most this part of the window is kept for the next answer."""
KEPT = (
    "\n[... {count} characters left out. All of the result stands in the file {path}: read on there by parts, such as "
    "some of its lines ...]\n"
)
NOT_KEPT = "\n[... {count} characters left out, which are kept nowhere that you can read: ask for less at a time ...]\n"

KeepResult = Callable[[ToolCalled, str], Awaitable[str | None]]
"""Keeps the whole result of a call for the agent; its path in the workspace, None where there is no workspace."""


async def not_kept(called: ToolCalled, output: str) -> None:
    """Nobody keeps any."""
    del called, output


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The window of a model as the results of a step find it: the conversation before them, of which its provider said
    that the last answer read and wrote `read` tokens, 0 where it did not tell, and `calls` that share what is left.
    `instructions` are those of folders that the agent knows by now, by their files' paths."""

    conversation: Conversation
    calls: int
    read: int = 0
    instructions: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLimits:
    """Sizes in tokens: the `window` of the agent's model, and what is kept of it for an `answer`."""

    window: int
    answer: int
    count_tokens: CountTokens = count_estimated
    keep: KeepResult = not_kept

    async def fitted(self, called: ToolCalled, done: Done, room: Room) -> Done:
        """With what the model is to read of it, where that is not all: head and tail, and a reference to the whole."""
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
            # What is left of it may be of other stuff than the rest.
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
    """By its bytes alone."""
    return room.read or room.conversation.context_tokens + tokens_of(_uncounted(room.conversation), most_tokens)


def _uncounted(conversation: Conversation) -> Sequence[Turn]:
    """What came since the last call."""
    return conversation.turns[conversation.uncounted_from :]


def cut(text: str, limit: int, path: str | None) -> str:
    """Head and tail, of about `limit` characters with the mark between them that says what is left out."""
    mark = KEPT if path is not None else NOT_KEPT
    keep = max(limit - len(mark.format(count=len(text), path=path)), 0)
    return head_and_tail(text, keep, mark.format(count=len(text) - keep, path=path))
