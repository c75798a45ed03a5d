"""Models on offer, and how one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from backend_api.agent.model import ChatModel, ModelInfo
from backend_api.agent.sizes import CountTokens, count_estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """A model ready to be asked, with what is known of it."""

    info: ModelInfo
    chat: ChatModel
    count_tokens: CountTokens = count_estimated


Role = Literal["subagent", "teammate", "compact", "title", "fallback"]
"""What a deployment may name a model of its own for: sub-agents, teammates, summaries, titles, and what is
asked where a model fails."""


ProviderName = Literal["openai", "anthropic"]
"""Of those that are asked with a key; each server that speaks as OpenAI does is asked as `openai`."""


class ModelCatalogue(Protocol):
    """The deployment's models."""

    def models(self) -> Sequence[ModelInfo]:
        """The default first."""
        ...

    def default(self) -> ModelInfo:
        """The model used where a session chose none."""
        ...

    def choose(self, model_id: str | None) -> ResolvedModel:
        """The named model, or the default for None. Raises `UnknownModelError`."""
        ...

    def role(self, role: Role) -> ResolvedModel | None:
        """The model the deployment names for this; None where it names none."""
        ...
