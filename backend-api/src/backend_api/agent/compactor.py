"""Replaces the conversation so far by a summary."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import floor

from backend_api.agent.capability import Compact
from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import NO_USAGE, ContextCompacted, Notice
from backend_api.agent.fallback import summary_fallback_notice
from backend_api.agent.journal import Journal
from backend_api.agent.model import ModelContextError, ModelError, ModelRequest
from backend_api.agent.sizes import CountTokens, count_estimated, texts_of
from backend_api.agent.summary import Summarizer, SummaryError
from backend_api.agent.thread import COMPACTION_FAILED
from backend_api.agent.usage import add_usage

logger = logging.getLogger(__name__)
WriteTranscript = Callable[[], Awaitable[str | None]]
"""Writes the whole history into the session's workspace, and returns its path there, or None without a workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactor:
    """It keeps no state: a worker that takes the run over during a summary requests it anew."""

    model: ResolvedModel
    instead: ResolvedModel | None
    """The agent's own model, used if the one for summaries fails in a way that this one would not; None if both are the
    same."""
    journal: Journal
    write_transcript: WriteTranscript
    count_tokens: CountTokens = count_estimated
    """Counts tokens as the agent's model does, which may not be the one that writes summaries."""

    async def compact(
        self, request: ModelRequest, conversation: Conversation, wanted: Compact, kept: Sequence[str] = ()
    ) -> bool:
        """Summarise, and return whether there is a summary now, followed by `kept`. `request` is the next request to
        the agent's model. The cost is counted in any case; a failure changes nothing, but a notice is recorded."""
        transcript = await self.write_transcript()
        notices: list[Notice] = []
        try:
            summary = await self._summary(request, wanted.focus, notices)
        except SummaryError as error:
            logger.warning("a conversation was not summed up", extra={"reason": str(error)})
            text = f"The conversation could not be summed up: {error}"
            outcome = Notice(text=text, code=COMPACTION_FAILED)
        else:
            outcome = await self._compacted("\n\n".join([summary, *kept]), conversation, wanted, transcript)
        await self.journal.record([*notices, self.journal.counted(NO_USAGE), outcome])
        return isinstance(outcome, ContextCompacted)

    async def _summary(self, request: ModelRequest, focus: str | None, notices: list[Notice]) -> str:
        """The text of the summary. Raises the first model's `SummaryError` if both models fail."""
        try:
            return await self._summarize(self.model, request, focus)
        except SummaryError as error:
            if self.instead is None or error.fault is None or _fails_again(error.fault):
                raise
            logger.warning("the model for summaries failed", extra={"reason": str(error)})
            try:
                summary = await self._summarize(self.instead, request, focus)
            except SummaryError as second:
                raise error from second
            notices.append(summary_fallback_notice(error.fault, self.instead.info))
            return summary

    async def _summarize(self, model: ResolvedModel, request: ModelRequest, focus: str | None) -> str:
        summarizer, is_unused = Summarizer(model=model), False
        try:
            return await summarizer.summarize(request, focus)
        except SummaryError as error:
            is_unused = error.fault is not None and summarizer.used == NO_USAGE
            raise
        finally:
            if not is_unused:
                self.journal.counted(add_usage(NO_USAGE, summarizer.used, model.info.id))

    async def _compacted(
        self, summary: str, conversation: Conversation, wanted: Compact, transcript: str | None
    ) -> ContextCompacted:
        closed = await self.count_tokens(texts_of(conversation.turns[: conversation.closed_turns]))
        kept = await self.count_tokens(texts_of(conversation.turns[conversation.closed_turns :]))
        size = wanted.size or closed + kept
        # A size below that of its turns was counted by another tokenizer, so the saved tokens are scaled to it.
        scale = min(size / max(closed + kept, 1), 1)
        saved = floor((closed - await self.count_tokens([summary])) * scale)
        return ContextCompacted(
            kind=wanted.kind,
            before=size,
            after=max(size - saved, 0),
            through_seq=conversation.through_seq,
            summary=summary,
            focus=wanted.focus,
            transcript=transcript,
        )


def _fails_again(fault: ModelError) -> bool:
    """Whether the agent's own model would fail at the same request; a request too long for another model may fit its
    window."""
    return fault.is_of_request and not isinstance(fault, ModelContextError)
