"""Limits on a provider's answers: the server at an address is not trusted, whoever configured it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import closing
from dataclasses import dataclass

from backend_api.agent.model import AddedPart, ModelUnavailableError, Part, TextPart, ThinkingPart, ToolCallPart
from service_kit.amounts import duration_text
from service_kit.wait_limit import WaitLimit

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""The limit of one stream, uncompressed: a token takes some 300 bytes as an event."""
MAX_ANSWER_CHARACTERS = 2_000_000
"""The limit of text, thinking and arguments together: several times what any model writes. The thinking data to be sent
back may take as much again."""
MOST_CALLS = 128
MAX_ANSWER_S = 3_600.0
MOST_REDIRECTS = 5
MAX_ERROR_BYTES = 64 * 1024
ERROR_S = 10.0
MAX_NAME_CHARACTERS = 200
MOST_TOKENS = 10**9
"""The limit of tokens in one call: sums of more would not fit the database's integers."""
BUSY_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Timeouts of a call, in seconds."""

    connect_s: float = 10.0
    """The limit until there is a connection, including the wait for a free one."""
    head_s: float = 180.0
    """The limit until the response headers are complete, including connecting and sending."""
    silence_s: float = 120.0
    """The limit for each wait for the next bytes of the body."""


TIMEOUTS = Timeouts()


class AnswerBounds:
    """Counts one answer against the limits. Its methods raise `ModelUnavailableError` if one is exceeded."""

    def __init__(
        self, provider: str, clock: Callable[[], float] = time.monotonic, *, silence_s: float = TIMEOUTS.silence_s
    ) -> None:
        self._provider = provider
        self._clock = clock
        self._silence_s = silence_s
        self._bytes = self._characters = self._opaque = self._calls = 0

    async def bounded(self, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        """Yields the same chunks; a server that sends faster than they are read does not block other tasks."""
        with closing(WaitLimit(self._silence_s)) as silence:
            begun = yielded = self._clock()
            while (chunk := await self._next(chunks, silence)) is not None:
                now = self._clock()
                self._bytes += len(chunk)
                if self._bytes > MAX_ANSWER_BYTES:
                    raise self._too_much("a response that is too large")
                if now - begun > MAX_ANSWER_S:
                    raise self._too_much(f"an answer that did not end within {duration_text(MAX_ANSWER_S)}")
                yield chunk
                if self._clock() - yielded > BUSY_S:
                    await asyncio.sleep(0)
                    yielded = self._clock()

    async def _next(self, chunks: AsyncIterator[bytes], silence: WaitLimit) -> bytes | None:
        """The next chunk, or None after the last. Bytes of framing or compression alone keep a connection open, and are
        not a chunk."""
        try:
            with silence:
                return await anext(chunks)
        except StopAsyncIteration:
            return None
        except TimeoutError as error:
            text = f"{self._provider} sent nothing for {duration_text(self._silence_s)}."
            raise ModelUnavailableError(text, may_retry=True) from error

    def count(self, part: Part) -> None:
        """Counts the next part, before it is passed on."""
        match part:
            case TextPart():
                self._characters += len(part.text)
            case ThinkingPart():
                self._characters += len(part.text)
                self._opaque += len(part.signature or "") + len(part.opaque or "")
            case AddedPart():
                self._opaque += len(part.opaque)
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
    """The error that one answer has too many calls."""
    return ModelUnavailableError(f"{provider} sent more than {MOST_CALLS} calls in one answer.")


def tokens(value: object) -> int:
    """A provider's token count, or 0 if it is not a number of tokens."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    # Only for floats: an integer of more than 308 digits can't be converted.
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    return int(min(max(value, 0), MOST_TOKENS))
