"""Every setting with the value that applies to a user."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Literal

from backend_api.agent.model import ModelInfo
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.domain.base_urls import BaseUrls
from backend_api.settings.domain.entity import UserSettings
from backend_api.settings.domain.table import DEFAULT_MODEL, ROLE_MODELS, SEARCH_KEYS, SETTINGS, Setting
from backend_api.settings.ports import SecretBox, UserCatalogues

Problem = Literal["unreadable", "not_allowed", "not_available", "not_asked"]
"""Reasons why a set value has no effect: it is sealed under another SECRETS_KEY, its host is not allowed any more, the
model is not on offer, or no provider uses the key."""
SHORTEST_SHOWN = 16
"""The least length of a key whose last characters are shown; of a shorter one they would reveal too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSetting:
    """`default` applies if the user sets nothing. A secret has no value: `is_set` shows whether there is one,
    `ends_with` are the last four characters of the user's own. `may_set` is false if the deployment stores no secrets,
    or does not use this one."""

    category: str
    key: str
    value: Any
    default: Any
    source: Literal["deployment", "user"]
    is_secret: bool
    is_set: bool
    ends_with: str | None = None
    may_set: bool = True
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """The deployment's settings: values by their names; of those in `held` only their presence is shown."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    held: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Raises `StoreUnavailableError`."""

    open_settings: OpenSettings
    box: SecretBox
    catalogues: UserCatalogues
    base_urls: BaseUrls
    deployment: Deployment
    search_keys: Set[Setting]

    async def __call__(self, user_id: UserId) -> list[ShownSetting]:
        """The settings in the order of the table."""
        return await self.shown(await self.open_settings(user_id), SETTINGS)

    async def one(self, user_id: UserId, setting: Setting) -> ShownSetting:
        """Read one setting."""
        return (await self.shown(await self.open_settings(user_id), [setting]))[0]

    async def shown(self, own: UserSettings, settings: tuple[Setting, ...] | list[Setting]) -> list[ShownSetting]:
        """The shown form of these settings of a user."""
        async with self.catalogues.of(own) as catalogue:
            offered = {model.id: model for model in catalogue.models()}
        defaults = {**self.deployment.values, **self._default_models(own, offered)}
        return [self._show_setting(own, setting, defaults.get(setting.name), offered) for setting in settings]

    def _default_models(self, own: UserSettings, offered: Mapping[str, ModelInfo]) -> Mapping[str, Any]:
        """The deployment's default models, as far as they are used for this user."""
        default = self.deployment.values.get(DEFAULT_MODEL.name)
        roles = self.catalogues.deployment_roles(own)
        named = {setting.name: roles.get(setting.name) for setting in ROLE_MODELS.values()}
        return {**named, DEFAULT_MODEL.name: default if default in offered else None}

    def _show_setting(
        self, own: UserSettings, setting: Setting, default: Any, offered: Mapping[str, ModelInfo]
    ) -> ShownSetting:
        is_secret, is_own, secret = setting.kind == "secret", own.has(setting), own.secret(setting)
        value = own.value(setting) if is_own else default
        return ShownSetting(
            category=setting.category,
            key=setting.key,
            value=None if is_secret else value,
            default=None if is_secret else default,
            source="user" if is_own else "deployment",
            is_secret=is_secret,
            is_set=is_own or value is not None or setting.name in self.deployment.held,
            ends_with=secret[-4:] if len(secret) >= SHORTEST_SHOWN else None,
            may_set=self._may_set(setting),
            problem=self._problem(own, setting, offered),
        )

    def _may_set(self, setting: Setting) -> bool:
        return setting.kind != "secret" or (self.box.key_id is not None and not self._is_unused(setting))

    def _is_unused(self, setting: Setting) -> bool:
        return setting in SEARCH_KEYS.values() and setting not in self.search_keys

    def _problem(self, own: UserSettings, setting: Setting, offered: Mapping[str, ModelInfo]) -> Problem | None:
        if setting.name in own.unreadable:
            return "unreadable"
        if own.has(setting) and self._is_unused(setting):
            return "not_asked"
        value = own.value(setting)
        if setting.kind == "model" and value is not None:
            model = offered.get(value)
            if model is None or (model.is_demo and setting in ROLE_MODELS.values()):
                return "not_available"
        if setting.kind == "address" and value is not None:
            try:
                self.base_urls.check(value)
            except InvalidError:
                return "not_allowed"
        return None
