"""Testing a user's key with one small call to its provider, and listing the models that it gives access to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from backend_api.agent.catalogue import ProviderName, ResolvedModel
from backend_api.agent.model import (
    ModelAuthError,
    ModelError,
    ModelMissingError,
    ModelRateLimitError,
    ModelRequest,
    ModelRequestError,
    UserTurn,
)
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.domain.base_urls import BaseUrls
from backend_api.settings.domain.entity import UserSettings
from backend_api.settings.domain.table import PROVIDER_SETTINGS, ProviderSettings, Setting
from backend_api.settings.ports import UserCatalogues
from service_kit.amounts import duration_text

ANSWER_S = 20.0
ANSWER_TOKENS = 64
Outcome = Literal["ok", "wrong_key", "no_such_model", "limit", "refused", "unreachable"]
_OUTCOMES: tuple[tuple[type[ModelError], Outcome], ...] = (
    (ModelAuthError, "wrong_key"),
    (ModelMissingError, "no_such_model"),
    (ModelRateLimitError, "limit"),
    (ModelRequestError, "refused"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The values to test. A field that is left out is taken from the user's settings; an empty `base_url` means none. A
    saved key is only tested at the address that it was saved for."""

    provider: ProviderName
    key: str | None = None
    base_url: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """`detail` describes the error, without the key; empty if there is none."""

    outcome: Outcome
    model: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelListing:
    """The provider's models for a key; `detail` describes the error, without the key, if `outcome` is not ok."""

    outcome: Outcome
    models: Sequence[str] = ()
    best: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryKey:
    """Answers within `answer_s` seconds; nothing is stored. The deployment's keys are not tested.

    Raises `InvalidError` for a field of the body, `LimitError`, `StoreUnavailableError`.
    """

    open_settings: OpenSettings
    catalogues: UserCatalogues
    base_urls: BaseUrls
    limiter: RateLimiter
    limits: Limits
    answer_s: float = ANSWER_S

    async def __call__(self, user_id: UserId, trial: Trial) -> TrialResult:
        wanted = self._trial_settings(await self.open_settings(user_id), trial)
        await self.limiter.hit(f"key-tests:{user_id}", limit=self.limits.key_tests_per_minute, window_s=60)
        async with self.catalogues.trial(wanted) as catalogue:
            model = next((model.id for model in catalogue.models() if model.provider == trial.provider), None)
            if model is None:
                raise InvalidError("This provider has no model to test the key with: name one.", field="body.model")
            return await self._ask(catalogue.choose(model))

    async def list_models(self, user_id: UserId, trial: Trial) -> ModelListing:
        """List the models that the key gives access to, whatever models the user has saved."""
        wanted = self._trial_settings(await self.open_settings(user_id), trial)
        await self.limiter.hit(f"key-tests:{user_id}", limit=self.limits.key_tests_per_minute, window_s=60)
        try:
            found = await self.catalogues.listed(wanted, trial.provider)
        except ModelError as error:
            return ModelListing(outcome=_outcome_of(error), detail=error.detail)
        if not found.names:
            return ModelListing(outcome="no_such_model", detail="The provider lists no model that can be used here.")
        return ModelListing(outcome="ok", models=found.names, best=found.best)

    def _trial_settings(self, own: UserSettings, trial: Trial) -> UserSettings:
        tried = PROVIDER_SETTINGS[trial.provider]
        for other in PROVIDER_SETTINGS.values():
            # The deployment may have the same model on offer.
            own = own if other == tried else _without_provider(own, other)
        if trial.key is not None:
            own = own.with_value(tried.key, _checked(tried.key, trial.key, "key"))
        if trial.base_url is not None:
            own = self._with_address(trial.base_url, own, tried, has_key=trial.key is not None)
        if trial.model is not None:
            own = own.with_value(tried.models, _checked(tried.models, [trial.model], "model"))
        address = own.value(tried.base_url) if tried.base_url is not None else None
        if not own.secret(tried.key) and (not address or tried.key.name in own.unreadable):
            raise InvalidError("You have no saved key to test: enter one.", field="body.key")
        if address:
            self._checked_address(address)
        return own

    def _with_address(
        self, base_url: str, own: UserSettings, tried: ProviderSettings, *, has_key: bool
    ) -> UserSettings:
        if tried.base_url is None:
            raise InvalidError("Only keys of compatible servers can have an address.", field="body.base_url")
        address = self._checked_address(base_url) if base_url.strip() else None
        is_elsewhere = address != own.value(tried.base_url)
        if is_elsewhere and not has_key and own.has(tried.key):
            raise InvalidError("Your saved key is for another address: enter a key for this one.", field="body.key")
        return own.with_value(tried.base_url, address)

    def _checked_address(self, address: str) -> str:
        try:
            return self.base_urls.check(address)
        except InvalidError as error:
            raise InvalidError(error.detail, field="body.base_url", fault=error.fault) from error

    async def _ask(self, chosen: ResolvedModel) -> TrialResult:
        model = chosen.info.id
        request = ModelRequest(
            model=model,
            system="Answer with one word.",
            turns=[UserTurn(text="Say: ready")],
            tools=[],
            max_output_tokens=chosen.info.output_tokens(ANSWER_TOKENS),
            is_retried=False,
        )
        try:
            async with asyncio.timeout(self.answer_s), aclosing(chosen.chat.stream(request)) as parts:
                async for _ in parts:
                    break
        except TimeoutError:
            detail = f"There was no answer within {duration_text(self.answer_s)}."
            return TrialResult(outcome="unreachable", model=model, detail=detail)
        except ModelError as error:
            return TrialResult(outcome=_outcome_of(error), model=model, detail=error.detail)
        return TrialResult(outcome="ok", model=model)


def _outcome_of(error: ModelError) -> Outcome:
    for kind, outcome in _OUTCOMES:
        if isinstance(error, kind):
            return outcome
    return "unreachable"


def _without_provider(own: UserSettings, provider: ProviderSettings) -> UserSettings:
    own = own.with_value(provider.key, None)
    return own.with_value(provider.base_url, None) if provider.base_url is not None else own


def _checked(setting: Setting, value: object, field: str) -> object:
    try:
        return setting.check(value)
    except InvalidError as error:
        raise InvalidError(error.detail, field=f"body.{field}", fault=error.fault) from error
