"""The deployment's models: which providers are set, and what they offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import urlsplit

from backend_api.domain.agent.catalogue import ChosenModel, Role
from backend_api.domain.agent.model import ChatModel, ModelInfo, Thinks, UnknownModelError
from backend_api.domain.agent.prices import Prices
from backend_api.infrastructure.llm.calls import ModelCalls, RetryPolicy
from backend_api.infrastructure.llm.demo import DEMO_MODEL, DemoModel
from backend_api.infrastructure.llm.model_facts import (
    FactsOf,
    ModelFacts,
    ModelsFileError,
    ModelTable,
    read_models_file,
)
from backend_api.infrastructure.llm.thinking import openai_thinks, responses_thinks

FREE = Prices(input=0, cache_read=0, cache_write=0, output=0)


ROLE_SETTINGS: dict[Role, str] = {
    "subagent": "SUBAGENT_MODEL",
    "compact": "COMPACT_MODEL",
    "fallback": "FALLBACK_MODEL",
}

OpenAiApi = Literal["chat", "responses"]


class LlmSettingError(ValueError):
    """A setting that stops the start; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """`LLM_PROVIDER`, `MODEL`, `MODELS`, `MODELS_FILE`, `VISION_MODELS`, `*_API_KEY`, `*_BASE_URL`, `OPENAI_API`,
    `CONTEXT_WINDOW`, `DEMO_DELAY_MS`.

    `model` empty means the provider's own default; `models` are further ones on offer from the same provider.
    `roles` names models by their role, empty for none; such a model need not be on offer.
    `context_window`, in tokens, is that of models nothing is known of.
    `connections` is how many answers of one provider may be under way at once.
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
    context_window: int = 200_000
    demo_delay_s: float = 0.02
    connections: int = 500


class ClosableModel(ChatModel, Protocol):
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """`adapter` is imported when it is used first, as the SDKs are slow to import."""

    key_setting: str
    default_model: str
    key: Callable[[LlmSettings], str]
    is_set: Callable[[LlmSettings], bool]
    build: Callable[[LlmSettings, FactsOf], ClosableModel]
    thinks: Callable[[str, LlmSettings], Thinks]
    """Where nothing else says it."""
    is_official: Callable[[LlmSettings], bool]


def _openai(settings: LlmSettings, facts: FactsOf) -> ClosableModel:
    del facts
    if _openai_api(settings) == "responses":
        build = import_module("backend_api.infrastructure.llm.openai_responses").OpenAiResponsesModel
    else:
        build = import_module("backend_api.infrastructure.llm.openai_chat").OpenAiChatModel
    return build(key=settings.openai_key, base_url=settings.openai_base_url or None, connections=settings.connections)


def _openai_api(settings: LlmSettings) -> OpenAiApi:
    """Compatible servers have chat completions; few have the other."""
    return settings.openai_api or ("chat" if settings.openai_base_url else "responses")


def _openai_thinks(model: str, settings: LlmSettings) -> Thinks:
    thinks = responses_thinks if _openai_api(settings) == "responses" else openai_thinks
    return thinks(model, is_official=_is_official(settings))


def _anthropic(settings: LlmSettings, facts: FactsOf) -> ClosableModel:
    adapter = import_module("backend_api.infrastructure.llm.anthropic_messages")
    return adapter.AnthropicModel(
        key=settings.anthropic_key,
        base_url=settings.anthropic_base_url or None,
        connections=settings.connections,
        facts=facts,
    )


def _thinks_when_asked(model: str, settings: LlmSettings) -> Thinks:
    del model, settings
    return "optional"


def _is_at(address: str, host: str) -> bool:
    return not address or urlsplit(address).hostname == host


def _is_official(settings: LlmSettings) -> bool:
    return _is_at(settings.openai_base_url, "api.openai.com")


PROVIDERS: dict[str, _Provider] = {
    "openai": _Provider(
        key_setting="OPENAI_API_KEY",
        default_model="gpt-5.5",
        key=lambda settings: settings.openai_key,
        is_set=lambda settings: bool(settings.openai_key or settings.openai_base_url),
        build=_openai,
        thinks=_openai_thinks,
        is_official=_is_official,
    ),
    "anthropic": _Provider(
        key_setting="ANTHROPIC_API_KEY",
        default_model="claude-sonnet-5",
        key=lambda settings: settings.anthropic_key,
        is_set=lambda settings: bool(settings.anthropic_key),
        build=_anthropic,
        thinks=_thinks_when_asked,
        is_official=lambda settings: _is_at(settings.anthropic_base_url, "api.anthropic.com"),
    ),
}


class Catalogue:
    """`ModelCatalogue` of the settings; an async context manager that closes the providers' connections."""

    def __init__(self, settings: LlmSettings, retry: RetryPolicy | None = None) -> None:
        self._retry = retry or RetryPolicy()
        self._table = _table(settings)
        self._settings = settings
        self._open: dict[str, ClosableModel] = {}
        self._chosen: dict[str, ChosenModel] = {}
        chosen = _provider_name(settings)
        if chosen != "demo":
            names = list(dict.fromkeys([settings.model or PROVIDERS[chosen].default_model, *settings.models]))
            self._offer(chosen, names)
        for name, provider in PROVIDERS.items():
            if name != chosen and settings.provider == "auto" and provider.is_set(settings):
                self._offer(name, [provider.default_model])
        demo = ModelInfo(
            id=DEMO_MODEL.id,
            label=DEMO_MODEL.label,
            provider=DEMO_MODEL.provider,
            is_demo=True,
            is_default=chosen == "demo",
            context_window=settings.context_window,
            notes=DEMO_MODEL.notes,
            thinking=DEMO_MODEL.thinking,
            prices=FREE,
        )
        self._chosen[demo.id] = ChosenModel(
            info=demo,
            chat=ModelCalls(DemoModel(delay_s=settings.demo_delay_s), demo.provider, self._retry, prices=demo.prices),
        )
        self._default = next(model.info for model in self._chosen.values() if model.info.is_default)
        usable = [name for name, provider in PROVIDERS.items() if name == chosen or provider.is_set(settings)]
        self._providers = sorted(usable, key=lambda name: name != chosen)
        self._roles = {role: self._for_role(role, name) for role, name in settings.roles.items() if name}

    async def __aenter__(self) -> Catalogue:
        return self

    async def __aexit__(self, *_: object) -> None:
        for model in self._open.values():
            await model.aclose()

    def models(self) -> Sequence[ModelInfo]:
        infos = [model.info for model in self._chosen.values()]
        return sorted(infos, key=lambda info: not info.is_default)

    def default(self) -> ModelInfo:
        return self._default

    def choose(self, model_id: str | None) -> ChosenModel:
        chosen = self._chosen.get(model_id or self._default.id)
        if chosen is None:
            raise UnknownModelError(f"The model {model_id!r} is not available here.", field="model")
        return chosen

    def role(self, role: Role) -> ChosenModel | None:
        return self._roles.get(role)

    def _for_role(self, role: Role, name: str) -> ChosenModel:
        if name in self._chosen:
            return self._chosen[name]
        # The one that makes it before any that may serve it, too.
        for is_official in (True, False):
            for provider in self._providers:
                is_own = PROVIDERS[provider].is_official(self._settings)
                if is_own is is_official and self._table.knows(name, provider, is_official=is_own):
                    return self._ready(name, provider)
        raise LlmSettingError(
            f"{ROLE_SETTINGS[role]}={name} is unknown. Choose one of MODEL and MODELS, or one that models.toml or "
            "MODELS_FILE has an entry for and whose provider has a key."
        )

    def _offer(self, provider: str, names: Sequence[str]) -> None:
        for name in names:
            self._chosen.setdefault(name, self._ready(name, provider, is_default=not self._chosen))

    def _ready(self, name: str, provider: str, *, is_default: bool = False) -> ChosenModel:
        def facts_of(name: str) -> ModelFacts:
            return self._table.facts(name, provider, is_official=PROVIDERS[provider].is_official(self._settings))

        if provider not in self._open:
            self._open[provider] = PROVIDERS[provider].build(self._settings, facts_of)
        info = _info(name, provider, self._settings, facts_of(name), is_default=is_default)
        calls = ModelCalls(self._open[provider], provider, self._retry, prices=info.prices)
        return ChosenModel(info=info, chat=calls)


def _info(name: str, provider: str, settings: LlmSettings, facts: ModelFacts, *, is_default: bool) -> ModelInfo:
    if provider != "anthropic" and facts.thinking_form is not None:
        raise LlmSettingError(f"MODELS_FILE: {name}: thinking_form is for models asked as Anthropic's alone.")
    # What VISION_MODELS says counts more: the name of one that sees, or after a minus of one that does not.
    is_said = name in settings.vision_models or f"-{name}" in settings.vision_models
    return ModelInfo(
        id=name,
        label=name,
        provider=provider,
        is_default=is_default,
        context_window=facts.context_window or settings.context_window,
        thinking=facts.thinking or PROVIDERS[provider].thinks(name, settings),
        vision=name in settings.vision_models if is_said else bool(facts.pictures),
        output_limit=facts.output_limit,
        prices=facts.prices,
        binds_thinking=bool(facts.binds_thinking),
        system_notes=bool(facts.system_notes),
    )


def _table(settings: LlmSettings) -> ModelTable:
    try:
        return read_models_file(settings.models_file)
    except ModelsFileError as error:
        raise LlmSettingError(str(error)) from error


def _provider_name(settings: LlmSettings) -> str:
    if settings.provider == "demo":
        return "demo"
    if settings.provider == "auto":
        return next((name for name, provider in PROVIDERS.items() if provider.is_set(settings)), "demo")
    provider = PROVIDERS.get(settings.provider)
    if provider is None:
        known = ", ".join(["auto", *PROVIDERS, "demo"])
        raise LlmSettingError(f"LLM_PROVIDER={settings.provider} is unknown. Choose one of: {known}.")
    if not provider.is_set(settings):
        raise LlmSettingError(f"LLM_PROVIDER={settings.provider} needs {provider.key_setting}.")
    return settings.provider
