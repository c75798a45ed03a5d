"""The prefix of a model's prompt: recorded when it changes, and sent unchanged in between.

Providers cache by prefix, and bind signed thinking to every byte before it: one edit costs the cache everywhere, and on
some models the conversation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from backend_api.agent.events import BodyReference, ContentReference, ContextOpened, OpeningCause
from backend_api.agent.options import AgentMode, ThinkingLevel
from backend_api.agent.tool import ToolSpec

BODY_MEDIA_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPrefix:
    """System prompt and tools of an agent, for one model, thinking level and vision."""

    model: str
    system: str
    tools: Sequence[ToolSpec]
    thinking: ThinkingLevel | None = None
    vision: bool = False
    mode: AgentMode = "normal"
    preset: str | None = None
    missing_preset: str | None = None
    """The chosen preset that no longer exists, and that `preset` replaces."""
    system_reference: ContentReference = field(init=False)
    tools_reference: ContentReference = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "system_reference", _reference_of_prompt(self.system))
        object.__setattr__(self, "tools_reference", _reference_of_tools(tuple([tool.offer for tool in self.tools])))

    def after(self, last: ContextOpened | None, *, is_due: bool = False) -> ContextOpened | None:
        """The opening to record before the model is called; None if `last` still holds and no new one is due."""
        cause = self._cause(last) or ("history" if is_due else None)
        if cause is None:
            return None
        return ContextOpened(
            epoch=last.epoch + 1 if last else 1,
            cause=cause,
            model=self.model,
            system=self.system_reference,
            tools=self.tools_reference,
            thinking=self.thinking,
            vision=self.vision,
            mode=self.mode,
            preset=self.preset,
            missing_preset=self.missing_preset,
            body=BodyReference(size=len(self.body()), media_type=BODY_MEDIA_TYPE),
        )

    def body(self) -> bytes:
        """The JSON of system prompt and tools."""
        return _body(self.system, tuple([tool.offer for tool in self.tools]))

    def _cause(self, last: ContextOpened | None) -> OpeningCause | None:
        if last is None:
            return "started"
        # Openings from before there were presets are not outdated by them.
        is_other = last.preset is not None and last.preset != self.preset
        if is_other or last.missing_preset != self.missing_preset:
            return "preset"
        if last.model != self.model or last.vision != self.vision:
            return "model"
        if last.thinking != self.thinking:
            return "thinking"
        if last.mode != self.mode:
            return "mode"
        if last.tools != self.tools_reference:
            return "tools"
        return None if last.system == self.system_reference else "prompt"


def _json_list(items: Sequence[str]) -> str:
    return f"[{','.join(items)}]"


@lru_cache(maxsize=16)
def _body(system: str, offers: tuple[str, ...]) -> bytes:
    return f'{{"system":{json.dumps(system, ensure_ascii=False)},"tools":{_json_list(offers)}}}'.encode()


# Usually the same as for the last run, and some tens of kilobytes.
@lru_cache(maxsize=16)
def _reference_of_tools(offers: tuple[str, ...]) -> ContentReference:
    return _reference(_json_list(offers))


def _reference(text: str) -> ContentReference:
    content = text.encode()
    return ContentReference(digest=hashlib.sha256(content).hexdigest(), size=len(content))


_reference_of_prompt = lru_cache(maxsize=16)(_reference)
