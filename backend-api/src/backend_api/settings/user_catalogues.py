"""The models of each user: the deployment's, and those of the user's own keys."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from backend_api.agent.catalogue import ProviderName, Role
from backend_api.agent.model import ModelAuthError, ModelError
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.models.catalogue import Catalogue
from backend_api.models.listing import list_models
from backend_api.models.providers import PROVIDERS, LlmSettingError, LlmSettings
from backend_api.models.wire.calls import RetryPolicy
from backend_api.models.wire.key_masking import KeyMask
from backend_api.settings.domain import table
from backend_api.settings.domain.base_urls import BaseUrls
from backend_api.settings.domain.entity import UserSettings
from backend_api.settings.domain.table import ProviderSettings
from backend_api.settings.domain.values import refused
from backend_api.settings.ports import ListedModels

MOST_KEPT = 100
"""The number of users whose connections are kept open; the least recently used are closed once they are idle."""
_OF_MODELS = tuple(setting for setting in table.SETTINGS if setting.category == "models")


@dataclass(slots=True)
class _Entry:
    settings: LlmSettings = field(repr=False)
    catalogue: Catalogue
    readers: int = 0
    is_retired: bool = False


class UserCatalogues:
    """The port of this name (`settings/ports.py`), beside the deployment's catalogue; an async context manager that
    closes the kept connections.

    A user's entry is used only while the user's settings are the same, so a change applies at the next run; connections
    with the former keys are closed when the last run that uses them ends. An address of a user that is not allowed any
    more is not called. With `needs_prices` no model may be on offer whose price is not known.
    """

    def __init__(
        self,
        shared: Catalogue,
        settings: LlmSettings,
        retry: RetryPolicy,
        *,
        base_urls: BaseUrls,
        needs_prices: bool = False,
        most_kept: int = MOST_KEPT,
    ) -> None:
        self._shared = shared
        self._settings = settings
        self._retry = retry
        self._base_urls = base_urls
        self._needs_prices = needs_prices
        self._most_kept = most_kept
        self._kept: OrderedDict[UserId, _Entry] = OrderedDict()
        self._retired: list[_Entry] = []

    async def __aenter__(self) -> UserCatalogues:
        return self

    async def __aexit__(self, *_: object) -> None:
        for kept in [*self._kept.values(), *self._retired]:
            await kept.catalogue.__aexit__()

    @asynccontextmanager
    async def of(self, own: UserSettings) -> AsyncGenerator[Catalogue]:
        """See the port."""
        settings = self._settings_of(own)
        if settings is None:
            yield self._shared
            return
        kept = self._kept.get(own.user_id)
        if kept is None or kept.settings != settings:
            kept = self._keep(own.user_id, _Entry(settings, await self._build(settings, self._retry)))
        self._kept.move_to_end(own.user_id)
        kept.readers += 1
        try:
            yield kept.catalogue
        finally:
            kept.readers -= 1
            while len(self._kept) > self._most_kept:
                self._retired.append(self._kept.popitem(last=False)[1])
            await self._close_idle()

    @asynccontextmanager
    async def trial(self, own: UserSettings) -> AsyncGenerator[Catalogue]:
        """See the port."""
        settings = self._settings_of(own)
        if settings is None:
            yield self._shared
            return
        async with await self._build(settings, self._retry) as catalogue:
            yield catalogue

    async def listed(self, own: UserSettings, provider: ProviderName) -> ListedModels:
        """See the port."""
        settings = self._settings_of(own)
        if settings is None or provider not in settings.own:
            # The deployment's key is not used for listings.
            raise ModelAuthError("You have no saved key for this provider.")
        key = PROVIDERS[provider].key(settings)
        address = settings.openai_base_url if provider == "openai" else settings.anthropic_base_url
        mask = KeyMask(key=key, key_setting=PROVIDERS[provider].key_setting, is_own=True)
        try:
            names = await list_models(provider, key, address)
        except ModelError as error:
            raise mask.masked(error) from None
        is_official = PROVIDERS[provider].is_official(settings)
        return ListedModels(names=names, best=self._shared.best_of(names, provider, is_official=is_official))

    def deployment_roles(self, own: UserSettings) -> Mapping[str, str]:
        """See the port."""
        settings = self._settings_of(own)
        named = {setting.name: self._settings.roles.get(role, "") for role, setting in table.ROLE_MODELS.items()}
        return {
            setting: name
            for setting, name in named.items()
            if name and (settings is None or _is_shared(name, settings))
        }

    async def check(self, own: UserSettings) -> None:
        """See the port."""
        settings = self._settings_of(own)
        if settings is None:
            return
        try:
            async with await self._build(settings, self._retry) as catalogue:
                models = catalogue.models()
        except LlmSettingError as error:
            raise refused(str(error)) from error
        unknown = sorted(model.id for model in models if model.prices is None)
        if self._needs_prices and unknown:
            raise refused(
                f"This server limits what a run may cost, and the price of {', '.join(unknown)} is not known."
            )

    async def _build(self, settings: LlmSettings, retry: RetryPolicy) -> Catalogue:
        # The adapter is imported, and the certificates are read, at the first use.
        return await asyncio.to_thread(Catalogue, settings, retry, shared=self._shared)

    def _keep(self, user_id: UserId, fresh: _Entry) -> _Entry:
        """Replace the kept entry by this one, unless another task has just made an equal one; returns the kept one."""
        kept = self._kept.get(user_id)
        if kept is not None and kept.settings == fresh.settings:
            self._retired.append(fresh)
            return kept
        if kept is not None:
            self._retired.append(kept)
        self._kept[user_id] = fresh
        return fresh

    async def _close_idle(self) -> None:
        idle = [kept for kept in self._retired if kept.readers == 0]
        self._retired = [kept for kept in self._retired if kept.readers]
        for kept in idle:
            await kept.catalogue.__aexit__()

    def _settings_of(self, own: UserSettings) -> LlmSettings | None:
        """The model settings of a user; None if the user has set none."""
        if not any(own.has(setting) for setting in _OF_MODELS):
            return None
        settings = replace(self._settings, default=own.value(table.DEFAULT_MODEL) or "")
        asked: set[str] = set()
        for provider, of_user in table.PROVIDER_SETTINGS.items():
            key, address = own.secret(of_user.key), _address(own, of_user)
            if (key or address) and self._may_ask(own, of_user, address):
                asked.add(provider)
                settings = PROVIDERS[provider].with_own_key(settings, key, address)
        names = self._names(own, asked)
        settings = replace(settings, own=frozenset(asked), provider="auto" if asked else settings.provider, names=names)
        return replace(settings, roles=self._roles(own, settings))

    def _may_ask(self, own: UserSettings, of_user: ProviderSettings, address: str) -> bool:
        """Whether the key may be used: not if it is set but can't be decrypted, nor at an address not allowed any
        more."""
        if of_user.key.name in own.unreadable:
            return False
        try:
            return not address or bool(self._base_urls.check(address))
        except InvalidError:
            return False

    def _roles(self, own: UserSettings, settings: LlmSettings) -> dict[Role, str]:
        roles: dict[Role, str] = {}
        for role, setting in table.ROLE_MODELS.items():
            chosen: str | None = own.value(setting)
            name = chosen or self._settings.roles.get(role, "")
            if _is_offered(name, settings) if chosen else _is_shared(name, settings):
                roles[role] = name
        return roles

    def _names(self, own: UserSettings, asked: Set[str]) -> dict[str, tuple[str, ...]]:
        shared = [model for model in self._shared.models() if not model.is_demo]
        names: dict[str, tuple[str, ...]] = {}
        for provider, of_user in table.PROVIDER_SETTINGS.items():
            of_deployment = tuple(model.id for model in shared if model.provider == provider)
            if provider not in asked:
                names[provider] = of_deployment
            elif said := own.value(of_user.models):
                names[provider] = tuple(said)
            else:
                standard = (PROVIDERS[provider].default_model,)
                names[provider] = standard if _address(own, of_user) or not of_deployment else of_deployment
        return names


def _address(own: UserSettings, of_user: ProviderSettings) -> str:
    """The user's address; empty if the deployment's is used."""
    return (own.value(of_user.base_url) or "") if of_user.base_url is not None else ""


def _is_offered(name: str, settings: LlmSettings) -> bool:
    return any(name in names for names in settings.names.values())


def _is_shared(name: str, settings: LlmSettings) -> bool:
    """Whether a model of the deployment is available: to users of its keys, or if the user's own keys offer the same
    model."""
    return not settings.own or _is_offered(name, settings)
