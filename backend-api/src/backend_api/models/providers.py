"""The known providers: how each is built, and which settings it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import urlsplit

from backend_api.agent.catalogue import Role
from backend_api.agent.model import CONTEXT_WINDOW, ChatModel, Thinks
from backend_api.models.model_facts import OPENAI_HOST, FactsOf
from backend_api.models.wire.thinking import openai_thinks, responses_thinks

ROLE_SETTINGS: dict[Role, str] = {
    "subagent": "SUBAGENT_MODEL",
    "teammate": "TEAMMATE_MODEL",
    "compact": "COMPACT_MODEL",
    "title": "TITLE_MODEL",
    "fallback": "FALLBACK_MODEL",
}

OpenAiApi = Literal["chat", "responses"]


class LlmSettingError(ValueError):
    """A setting prevents the start; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """`LLM_PROVIDER`, `MODEL`, `MODELS`, `MODELS_FILE`, `VISION_MODELS`, `*_API_KEY`, `*_BASE_URL`, `OPENAI_API`,
    `CONTEXT_WINDOW`, `DEMO_DELAY_MS`.

    An empty `model` means the provider's own default; `models` are further ones on offer from the same provider.
    `roles` names models by their role, empty for none; such a model need not be on offer. `context_window`, in tokens,
    is used for models about which nothing is known. `connections` is how many answers of one provider may be streaming
    at once.

    For the models of one user: `own` are the providers used with the user's own key, which come first; `names` are the
    models on offer of a provider in place of the deployment's; `default` is the model used by default if it is on
    offer.
    """

    provider: str = "auto"
    model: str = ""
    models: tuple[str, ...] = ()
    roles: Mapping[Role, str] = field(default_factory=dict[Role, str])
    models_file: Path | None = None
    vision_models: tuple[str, ...] = ()
    openai_key: str = ""
    openai_base_url: str = ""
    openai_api: OpenAiApi | Literal[""] = ""
    anthropic_key: str = ""
    anthropic_base_url: str = ""
    context_window: int = CONTEXT_WINDOW
    demo_delay_s: float = 0.02
    connections: int = 500
    own: frozenset[str] = frozenset()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    default: str = ""


class ClosableModel(ChatModel, Protocol):
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProviderEntry:
    """One provider. Its adapter is imported on first use, so a process that uses no provider loads no HTTP client for
    it."""

    key_setting: str
    default_model: str
    key: Callable[[LlmSettings], str]
    with_own_key: Callable[[LlmSettings, str, str], LlmSettings]
    """The settings with a user's key and address, each of which may be empty, in place of the deployment's."""
    is_set: Callable[[LlmSettings], bool]
    build: Callable[[LlmSettings, FactsOf], ClosableModel]
    thinks: Callable[[str, LlmSettings], Thinks]
    """Whether a model thinks, if nothing else says so."""
    is_official: Callable[[LlmSettings], bool]


def _openai(settings: LlmSettings, facts: FactsOf) -> ClosableModel:
    if _openai_api(settings) == "responses":
        build = import_module("backend_api.models.openai.responses").OpenAiResponsesModel
    else:
        build = import_module("backend_api.models.openai.chat").OpenAiChatModel
    return build(
        key=settings.openai_key,
        base_url=settings.openai_base_url or None,
        connections=settings.connections,
        facts=facts,
        # A user may set an address, but the server there can't redirect to another.
        is_users="openai" in settings.own,
    )


def _with_openai_key(settings: LlmSettings, key: str, address: str) -> LlmSettings:
    # The deployment's key is only sent to the deployment's address.
    return replace(
        settings,
        openai_key=key,
        openai_base_url=address or settings.openai_base_url,
        openai_api="" if address else settings.openai_api,
    )


def _with_anthropic_key(settings: LlmSettings, key: str, address: str) -> LlmSettings:
    del address
    return replace(settings, anthropic_key=key)


def _openai_api(settings: LlmSettings) -> OpenAiApi:
    """The API to use: compatible servers have chat completions, and few have the Responses API."""
    return settings.openai_api or ("chat" if settings.openai_base_url else "responses")


def _openai_thinks(model: str, settings: LlmSettings) -> Thinks:
    thinks = responses_thinks if _openai_api(settings) == "responses" else openai_thinks
    return thinks(model, is_official=_is_official(settings))


def _anthropic(settings: LlmSettings, facts: FactsOf) -> ClosableModel:
    adapter = import_module("backend_api.models.anthropic.messages")
    return adapter.AnthropicModel(
        key=settings.anthropic_key,
        base_url=settings.anthropic_base_url or None,
        connections=settings.connections,
        facts=facts,
        is_users="anthropic" in settings.own,
    )


def _optional_thinking(model: str, settings: LlmSettings) -> Thinks:
    del model, settings
    return "optional"


def _is_at(address: str, host: str) -> bool:
    return not address or urlsplit(address).hostname == host


def _is_official(settings: LlmSettings) -> bool:
    return _is_at(settings.openai_base_url, OPENAI_HOST)


PROVIDERS: dict[str, _ProviderEntry] = {
    "openai": _ProviderEntry(
        key_setting="OPENAI_API_KEY",
        default_model="gpt-5.5",
        key=lambda settings: settings.openai_key,
        with_own_key=_with_openai_key,
        is_set=lambda settings: bool(settings.openai_key or settings.openai_base_url),
        build=_openai,
        thinks=_openai_thinks,
        is_official=_is_official,
    ),
    "anthropic": _ProviderEntry(
        key_setting="ANTHROPIC_API_KEY",
        default_model="claude-sonnet-5",
        key=lambda settings: settings.anthropic_key,
        with_own_key=_with_anthropic_key,
        is_set=lambda settings: bool(settings.anthropic_key),
        build=_anthropic,
        thinks=_optional_thinking,
        is_official=lambda settings: _is_at(settings.anthropic_base_url, "api.anthropic.com"),
    ),
}
