"""What users set for themselves: the store, the secrets, and the models of their keys."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from backend_api.main.settings import Settings
from backend_api.settings.application.effective_settings import OpenEffectiveSettings
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.application.read_settings import Deployment
from backend_api.settings.domain import table
from backend_api.settings.domain.base_urls import KNOWN_HOSTS, BaseUrls
from backend_api.settings.domain.table import Setting
from backend_api.settings.ports import SecretBox, SettingsStore, UserCatalogues


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettingsParts:
    """What all that reads or writes settings of users is made of."""

    store: SettingsStore
    box: SecretBox
    catalogues: UserCatalogues
    base_urls: BaseUrls = field(default_factory=BaseUrls)
    deployment: Deployment = field(default_factory=Deployment)
    search_keys: Set[Setting] = frozenset(table.SEARCH_KEYS.values())
    """Those of search providers that are asked with them."""

    @property
    def open_settings(self) -> OpenSettings:
        """Reads and opens them."""
        return OpenSettings(self.store, self.box)

    @property
    def open_effective_settings(self) -> OpenEffectiveSettings:
        """What of them acts in runs."""
        return OpenEffectiveSettings(self.open_settings, self.catalogues)


def base_urls(settings: Settings, *, is_local: bool) -> BaseUrls:
    """Where keys of users may be sent."""
    return BaseUrls(settings.user_base_url_hosts or KNOWN_HOSTS, is_any=is_local)


def deployment_values(settings: Settings, default_model: str, held_search_keys: Set[Setting]) -> Deployment:
    """What holds where a user set nothing. Keys and addresses are not told: whoever may log in may ask."""
    values: dict[Setting, object] = {
        table.DEFAULT_MODEL: default_model,
        **{table.ROLE_MODELS[role]: name or None for role, name in settings.role_models.items()},
        table.ENABLE_THINKING: settings.thinking_enabled or None,
        table.THINKING_EFFORT: settings.thinking_effort,
        table.MAX_TURNS: settings.max_turns,
        table.ENABLE_APPROVAL: False,
        table.THEME: "system",
        table.NOTIFY_WAITING: False,
        table.NOTIFY_FINISHED: False,
        table.NOTIFY_SOUND: False,
    }
    held = {
        table.OPENAI_API_KEY: settings.openai_api_key,
        table.OPENAI_BASE_URL: settings.openai_base_url,
        table.ANTHROPIC_API_KEY: settings.anthropic_api_key,
        **dict.fromkeys(held_search_keys, True),
    }
    return Deployment(
        values={setting.name: value for setting, value in values.items()},
        held=frozenset(setting.name for setting, value in held.items() if value),
    )
