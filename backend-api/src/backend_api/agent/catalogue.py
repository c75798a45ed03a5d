"""Models on offer, and the choice of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from backend_api.agent.model import ChatModel, ModelInfo
from backend_api.agent.sizes import CountTokens, count_estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """A model ready to be called, with its properties."""

    info: ModelInfo
    chat: ChatModel
    count_tokens: CountTokens = count_estimated


Role = Literal["subagent", "teammate", "compact", "title", "fallback"]
"""Roles for which a deployment may name a model of its own: sub-agents, teammates, summaries, titles, and the fallback
for a model that fails."""


ProviderName = Literal["openai", "anthropic"]
"""Providers that need a key; each server that speaks OpenAI's protocol counts as `openai`."""


class ModelCatalogue(Protocol):
    """The deployment's models."""

    def models(self) -> Sequence[ModelInfo]:
        """The default first."""
        ...

    def default(self) -> ModelInfo:
        """The model used if a session chose none."""
        ...

    def choose(self, model_id: str | None) -> ResolvedModel:
        """The named model, or the default for None. Raises `UnknownModelError`."""
        ...

    def role(self, role: Role) -> ResolvedModel | None:
        """The model that the deployment names for this role; None if it names none."""
        ...
