"""How much of what a provider sends is taken: who answers at an address is not trusted, whoever named it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Self

from backend_api.domain.agent.model import ModelUnavailableError, Part, TextPart, ThinkingPart, ToolCallPart

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Of one stream, uncompressed: a token takes some 300 as an event."""
MAX_ANSWER_CHARACTERS = 2_000_000
"""Of text, thinking and arguments together: several times what any model writes. As much again may come of what a
provider wants back of its thinking."""
MOST_CALLS = 128
MAX_ANSWER_S = 3_600.0
SILENCE_S = 120.0
HEAD_S = 180.0
"""Until its head is whole: a server that is silent for less than that may still begin."""
MOST_REDIRECTS = 5
MAX_ERROR_BYTES = 64 * 1024
ERROR_S = 10.0
MAX_NAME_CHARACTERS = 200
MOST_TOKENS = 10**9
"""Of one call: sums of more would not fit the database's integers."""
BUSY_S = 0.02


class _Silence:
    """Ends a wait for the next chunk that lasts too long, with one timer for all of them, as one each took longer than
    what is done with most chunks. What comes of framing or compression alone keeps a connection open, and is none."""

    def __init__(self, provider: str, longest_s: float) -> None:
        self._provider = provider
        self._longest_s = longest_s
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Task[Any] | None = None
        self._since = 0.0
        self._cancelled_before: int | None = None
        """How often whoever waits was cancelled before this did it, None until then."""

    def __enter__(self) -> Self:
        self._timer = self._loop.call_later(self._longest_s, self._look)
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    async def next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """None at the end. Raises `ModelUnavailableError`."""
        task = self._waiting = asyncio.current_task()
        self._since = self._loop.time()
        try:
            return await anext(chunks, None)
        except asyncio.CancelledError as error:
            if task is None or self._cancelled_before is None or task.uncancel() > self._cancelled_before:
                raise
            silence = f"{self._provider} sent nothing for {self._longest_s:g} s."
            raise ModelUnavailableError(silence, may_retry=True) from error
        finally:
            self._waiting = None

    def _look(self) -> None:
        task, rest = self._waiting, self._longest_s
        if task is not None:
            rest += self._since - self._loop.time()
        if task is not None and rest <= 0:
            self._cancelled_before = task.cancelling()
            task.cancel()
        else:
            self._timer = self._loop.call_later(rest, self._look)


class AnswerBounds:
    """Counts what comes of one answer. Its methods raise `ModelUnavailableError` where that is too much."""

    def __init__(
        self, provider: str, clock: Callable[[], float] = time.monotonic, *, silence_s: float = SILENCE_S
    ) -> None:
        self._provider = provider
        self._clock = clock
        self._silence_s = silence_s
        self._bytes = self._characters = self._opaque = self._calls = 0

    async def bounded(self, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        """The same ones; whoever sends more than is read at once leaves others their turn."""
        begun = yielded = self._clock()
        with _Silence(self._provider, self._silence_s) as silence:
            while (chunk := await silence.next(chunks)) is not None:
                now = self._clock()
                self._bytes += len(chunk)
                if self._bytes > MAX_ANSWER_BYTES:
                    raise self._too_much("more than any answer takes")
                if now - begun > MAX_ANSWER_S:
                    raise self._too_much(f"an answer that did not end within {MAX_ANSWER_S / 60:g} minutes")
                yield chunk
                if self._clock() - yielded > BUSY_S:
                    await asyncio.sleep(0)
                    yielded = self._clock()

    def count(self, part: Part) -> None:
        """Count the next part, before anybody has it."""
        match part:
            case TextPart():
                self._characters += len(part.text)
            case ThinkingPart():
                self._characters += len(part.text)
                self._opaque += len(part.signature or "") + len(part.opaque or "")
            case ToolCallPart():
                self._characters += len(part.request.raw)
                self._opaque += len(part.request.opaque or "")
                self._calls += 1
            case _:
                return
        if max(self._characters, self._opaque) > MAX_ANSWER_CHARACTERS:
            raise self._too_much(f"an answer of more than {MAX_ANSWER_CHARACTERS} characters")
        if self._calls > MOST_CALLS:
            raise too_many_calls(self._provider)

    def _too_much(self, what: str) -> ModelUnavailableError:
        return ModelUnavailableError(f"{self._provider} sent {what}.")


def too_many_calls(provider: str) -> ModelUnavailableError:
    """Of one answer."""
    return ModelUnavailableError(f"{provider} sent more than {MOST_CALLS} calls in one answer.")


def tokens(value: object) -> int:
    """What a provider counted; 0 where it says nothing that is a number of tokens."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    # Of a whole number it can't be asked: one of more than 308 digits is no float.
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    return int(min(max(value, 0), MOST_TOKENS))
