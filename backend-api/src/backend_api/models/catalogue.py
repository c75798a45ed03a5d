"""The models on offer, the deployment's or a user's: which providers are set, and what they offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend_api.agent.catalogue import ResolvedModel, Role
from backend_api.agent.model import ModelInfo, UnknownModelError
from backend_api.agent.prices import Prices
from backend_api.models.demo.model import DEMO_MODEL, DemoModel
from backend_api.models.model_facts import ModelFacts, ModelsFileError, ModelTable, read_models_file
from backend_api.models.providers import (
    PROVIDERS,
    ROLE_SETTINGS,
    ClosableModel,
    LlmSettingError,
    LlmSettings,
)
from backend_api.models.tokens.token_process import TokenProcess
from backend_api.models.tokens.tokenizers import Tokenizers
from backend_api.models.wire.calls import ModelCalls, RetryPolicy
from backend_api.models.wire.key_masking import KeyMask

FREE = Prices(input=0, cache_read=0, cache_write=0, output=0)


class Catalogue:
    """`ModelCatalogue` of the settings; an async context manager that closes the providers' connections.

    A user's catalogue asks providers other than the user's `own` over the connections of the deployment's, `shared`,
    and has no demo model if there are own ones. A role whose model the user does not have is left empty.
    """

    def __init__(
        self, settings: LlmSettings, retry: RetryPolicy | None = None, *, shared: Catalogue | None = None
    ) -> None:
        self._retry = retry or RetryPolicy()
        self._table = shared._table if shared else _table(settings)
        self._settings = settings
        # A user's catalogue never uses its own, so it is never started.
        self._token_process = TokenProcess()
        self._tokenizers = shared._tokenizers if shared else Tokenizers(self._token_process.count)
        self._lent: Mapping[str, ClosableModel] = (
            {name: model for name, model in shared._open.items() if name not in settings.own} if shared else {}
        )
        self._measured = shared._names() if shared else None
        self._open: dict[str, ClosableModel] = {}
        self._chosen: dict[str, ResolvedModel] = {}
        first = _provider_name(settings)
        offers = _offers(settings, first)
        has_demo = not settings.own
        is_there = settings.default in offers or (has_demo and settings.default == DEMO_MODEL.id)
        default = settings.default if is_there else next(iter(offers), DEMO_MODEL.id)
        for name, provider in offers.items():
            self._chosen[name] = self._ready(name, provider, is_default=name == default)
        if has_demo:
            demo = _demo(settings, is_default=default == DEMO_MODEL.id)
            calls = ModelCalls(DemoModel(delay_s=settings.demo_delay_s), demo.provider, self._retry, prices=demo.prices)
            self._chosen[demo.id] = ResolvedModel(info=demo, chat=calls)
        self._default = next(model.info for model in self._chosen.values() if model.info.is_default)
        usable = [name for name, provider in PROVIDERS.items() if name == first or provider.is_set(settings)]
        self._providers = sorted(usable, key=lambda name: name != first)
        self._roles: dict[Role, ResolvedModel | None] = {
            role: self._for_role(name) for role, name in settings.roles.items() if name
        }
        for role, model in self._roles.items():
            if model is None and shared is None:
                raise _unknown_role(role, settings.roles[role])

    async def __aenter__(self) -> Catalogue:
        return self

    async def __aexit__(self, *_: object) -> None:
        for model in self._open.values():
            await model.aclose()
        await self._token_process.aclose()

    def models(self) -> Sequence[ModelInfo]:
        infos = [model.info for model in self._chosen.values()]
        return sorted(infos, key=lambda info: not info.is_default)

    def default(self) -> ModelInfo:
        return self._default

    def choose(self, model_id: str | None) -> ResolvedModel:
        chosen = self._chosen.get(model_id or self._default.id)
        if chosen is None:
            raise UnknownModelError(f"The model {model_id!r} is not available here.", field="model")
        return chosen

    def role(self, role: Role) -> ResolvedModel | None:
        return self._roles.get(role)

    def best_of(self, names: Sequence[str], provider: str, *, is_official: bool) -> str | None:
        """The model to begin with from a provider's list: its default one, else the first that the table knows, else
        the first."""
        default = PROVIDERS[provider].default_model
        if is_official and default in names:
            return default
        known = (one for one in names if self._table.is_known(one, provider, is_official=is_official))
        return next(known, next(iter(names), None))

    def _names(self) -> frozenset[str]:
        """The models that the deployment asks, and those that users who only bring a key ask."""
        roles = (model.info.id for model in self._roles.values() if model is not None)
        return frozenset((*self._chosen, *roles, *(provider.default_model for provider in PROVIDERS.values())))

    def _for_role(self, name: str) -> ResolvedModel | None:
        if name in self._chosen:
            return self._chosen[name]
        # The model's maker comes before others that may serve it.
        for is_official in (True, False):
            for provider in self._providers:
                is_own = PROVIDERS[provider].is_official(self._settings)
                if is_own is is_official and self._table.is_known(name, provider, is_official=is_own):
                    return self._ready(name, provider)
        return None

    def _ready(self, name: str, provider: str, *, is_default: bool = False) -> ResolvedModel:
        def facts_of(name: str) -> ModelFacts:
            return self._table.facts(name, provider, is_official=PROVIDERS[provider].is_official(self._settings))

        asked = self._lent.get(provider) or self._open.get(provider)
        if asked is None:
            asked = self._open[provider] = PROVIDERS[provider].build(self._settings, facts_of)
        info = _info(name, provider, self._settings, facts_of(name), is_default=is_default)
        key_mask = KeyMask(
            key=PROVIDERS[provider].key(self._settings),
            key_setting=PROVIDERS[provider].key_setting,
            is_own=provider in self._settings.own,
        )
        is_measured = self._measured is None or name in self._measured
        calls = ModelCalls(asked, provider, self._retry, prices=info.prices, is_measured=is_measured, key_mask=key_mask)
        return ResolvedModel(info=info, chat=calls, count_tokens=self._tokenizers.counter(name))


def _offers(settings: LlmSettings, first: str) -> dict[str, str]:
    """The names on offer with their providers, the user's own first."""
    offers: dict[str, str] = {}
    is_auto = settings.provider == "auto"
    wanted = [name for name, provider in PROVIDERS.items() if provider.is_set(settings)]
    for provider in sorted(wanted, key=lambda name: (name not in settings.own, name != first)):
        if provider != first and provider not in settings.own and not is_auto:
            continue
        names = settings.names.get(provider)
        if names is None:
            default = PROVIDERS[provider].default_model
            names = (settings.model or default, *settings.models) if provider == first else (default,)
        for name in names:
            offers.setdefault(name, provider)
    return offers


def _demo(settings: LlmSettings, *, is_default: bool) -> ModelInfo:
    return ModelInfo(
        id=DEMO_MODEL.id,
        label=DEMO_MODEL.label,
        provider=DEMO_MODEL.provider,
        is_demo=True,
        is_default=is_default,
        context_window=settings.context_window,
        notes=DEMO_MODEL.notes,
        thinking=DEMO_MODEL.thinking,
        prices=FREE,
    )


def _unknown_role(role: Role, name: str) -> LlmSettingError:
    return LlmSettingError(
        f"{ROLE_SETTINGS[role]}={name} is unknown. Choose one of MODEL and MODELS, or one that models.toml or "
        "MODELS_FILE has an entry for and whose provider has a key."
    )


def _info(name: str, provider: str, settings: LlmSettings, facts: ModelFacts, *, is_default: bool) -> ModelInfo:
    # A user's model of this name may be at a provider that does not use the form.
    if provider != "anthropic" and provider not in settings.own and facts.thinking_form is not None:
        raise LlmSettingError(f"MODELS_FILE: {name}: thinking_form is for models asked as Anthropic's alone.")
    # VISION_MODELS takes precedence: a name means that the model sees, a name after a minus that it does not.
    is_said = name in settings.vision_models or f"-{name}" in settings.vision_models
    return ModelInfo(
        id=name,
        label=name,
        provider=provider,
        is_default=is_default,
        is_official=PROVIDERS[provider].is_official(settings),
        context_window=facts.context_window or settings.context_window,
        thinking=facts.thinking or PROVIDERS[provider].thinks(name, settings),
        vision=name in settings.vision_models if is_said else bool(facts.pictures),
        output_limit=facts.output_limit,
        prices=facts.prices,
        knows_desktop=facts.computer_use is not None,
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
