"""Setting or unsetting one setting of a user."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from backend_api.agent.tool import ToolSpec
from backend_api.conversations.application.session_rules import check_tools
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import UserId
from backend_api.settings.application.open_settings import OpenSettings, bound_to
from backend_api.settings.application.try_search_key import NOT_ASKED
from backend_api.settings.domain.base_urls import BaseUrls
from backend_api.settings.domain.entity import UserSettings
from backend_api.settings.domain.table import ROLE_MODELS, SEARCH_KEYS, Setting
from backend_api.settings.domain.values import FIELD, refused
from backend_api.settings.ports import SecretBox, SettingsStore, UserCatalogues


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSetting:
    """A change applies from the next run on, in every process, once this returns; an active run goes on as it began.

    Raises `InvalidError` for `body.value`, `SecretsOffError`, `LimitError`, `StoreUnavailableError`.
    """

    store: SettingsStore
    box: SecretBox
    open_settings: OpenSettings
    catalogues: UserCatalogues
    base_urls: BaseUrls
    tools: Sequence[ToolSpec]
    search_keys: Set[Setting]
    """Keys of the search providers that this gateway uses."""
    deployment_model: str
    """The default model of sessions if neither they nor their user chose one."""
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, user_id: UserId, setting: Setting, value: Any) -> UserSettings:
        """Set the setting, or unset it if `value` is None. A secret that belongs to the former value is removed with
        it."""
        await self.limiter.hit(f"settings:{user_id}", limit=self.limits.settings_per_minute, window_s=60)
        kept = None if value is None else setting.check(value)
        if kept is not None:
            kept = await self._checked(setting, kept, await self.open_settings(user_id))
        if setting.kind == "secret" and kept is not None:
            kept = self.box.seal(kept, bound_to=bound_to(user_id, setting.name))
        stored = await self.store.change(user_id, setting.name, kept, invalidates=setting.invalidates)
        own = self.open_settings.opened(user_id, stored)
        if setting.category == "models":
            async with self.catalogues.of(own) as catalogue:
                model = catalogue.default()
            model_id = None if model.id == self.deployment_model else model.id
            await self.store.notify_sessions(user_id, stored.version, model_id)
        return own

    async def _checked(self, setting: Setting, value: Any, own: UserSettings) -> Any:
        if setting.kind == "address":
            value = self.base_urls.check(value)
        if setting.kind == "tools":
            check_tools(self.tools, setting.key, value, field=FIELD)
        if setting in SEARCH_KEYS.values() and setting not in self.search_keys:
            raise refused(NOT_ASKED)
        wanted = own.with_value(setting, value)
        if setting.kind == "model":
            async with self.catalogues.of(own) as catalogue:
                offered = {model.id: model for model in catalogue.models()}
            if value not in offered:
                raise refused("This model is not available. GET /api/models lists those that are.")
            if setting in ROLE_MODELS.values() and offered[value].is_demo:
                raise refused("The demo model is scripted and can't replace another model.")
        if setting.category == "models":
            await self.catalogues.check(wanted)
        return value
