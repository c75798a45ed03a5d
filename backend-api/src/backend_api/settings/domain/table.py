"""Every setting of a user, in one table. A setting is listed only if some code uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from backend_api.agent.catalogue import ProviderName, Role
from backend_api.settings.domain import values
from backend_api.settings.domain.errors import SettingNotFoundError
from backend_api.settings.domain.values import Check

Category = Literal["models", "agent", "approvals", "search", "research", "appearance", "notifications"]
Kind = Literal["plain", "secret", "address", "model", "tools"]
"""Further checks and steps before a value is stored: a secret is sealed, an address must be allowed, a model on offer,
and rules must name existing tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """`check` returns the value to store, or raises `InvalidError`. `invalidates` names the secret that belongs to this
    setting's value, and is removed in the same write when the value changes or is unset."""

    category: Category
    key: str
    check: Check
    kind: Kind = "plain"
    invalidates: str = ""

    @property
    def name(self) -> str:
        """Its name among all."""
        return f"{self.category}/{self.key}"


DEFAULT_MODEL = Setting(category="models", key="default_model", check=values.name, kind="model")
SUBAGENT_MODEL = Setting(category="models", key="subagent_model", check=values.name, kind="model")
TEAMMATE_MODEL = Setting(category="models", key="teammate_model", check=values.name, kind="model")
COMPACT_MODEL = Setting(category="models", key="compact_model", check=values.name, kind="model")
TITLE_MODEL = Setting(category="models", key="title_model", check=values.name, kind="model")
FALLBACK_MODEL = Setting(category="models", key="fallback_model", check=values.name, kind="model")
ROLE_MODELS: Mapping[Role, Setting] = {
    "subagent": SUBAGENT_MODEL,
    "teammate": TEAMMATE_MODEL,
    "compact": COMPACT_MODEL,
    "title": TITLE_MODEL,
    "fallback": FALLBACK_MODEL,
}
OPENAI_API_KEY = Setting(category="models", key="openai_api_key", check=values.secret, kind="secret")
OPENAI_BASE_URL = Setting(
    category="models", key="openai_base_url", check=values.name, kind="address", invalidates=OPENAI_API_KEY.name
)
OPENAI_MODELS = Setting(category="models", key="openai_models", check=values.names(50))
ANTHROPIC_API_KEY = Setting(category="models", key="anthropic_api_key", check=values.secret, kind="secret")
ANTHROPIC_MODELS = Setting(category="models", key="anthropic_models", check=values.names(50))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """The settings of one provider: a key, the models on offer by it, and the address that is used with it, None if the
    address is always the deployment's."""

    key: Setting
    models: Setting
    base_url: Setting | None = None


PROVIDER_SETTINGS: Mapping[ProviderName, ProviderSettings] = {
    "openai": ProviderSettings(key=OPENAI_API_KEY, models=OPENAI_MODELS, base_url=OPENAI_BASE_URL),
    "anthropic": ProviderSettings(key=ANTHROPIC_API_KEY, models=ANTHROPIC_MODELS),
}

ENABLE_THINKING = Setting(category="agent", key="enable_thinking", check=values.flag)
THINKING_EFFORT = Setting(category="agent", key="thinking_effort", check=values.one_of("high", "max"))
MAX_TURNS = Setting(category="agent", key="max_turns", check=values.whole(1, 500))
ENABLE_APPROVAL = Setting(category="approvals", key="enable_approval", check=values.flag)
ALLOWED_TOOLS = Setting(category="approvals", key="allowed_tools", check=values.names(), kind="tools")
ASKED_TOOLS = Setting(category="approvals", key="asked_tools", check=values.names(), kind="tools")
DENIED_TOOLS = Setting(category="approvals", key="denied_tools", check=values.names(), kind="tools")
TAVILY_API_KEY = Setting(category="search", key="tavily_api_key", check=values.secret, kind="secret")
BRAVE_API_KEY = Setting(category="search", key="brave_api_key", check=values.secret, kind="secret")
SERPER_API_KEY = Setting(category="search", key="serper_api_key", check=values.secret, kind="secret")
KeyedSearch = Literal["tavily", "brave", "serper"]
SEARCH_KEYS: Mapping[KeyedSearch, Setting] = {
    "tavily": TAVILY_API_KEY,
    "brave": BRAVE_API_KEY,
    "serper": SERPER_API_KEY,
}
"""Providers of web search for which users may have own keys; of several the first is used."""
OPENALEX_API_KEY = Setting(category="research", key="openalex_api_key", check=values.secret, kind="secret")
SEMANTIC_SCHOLAR_API_KEY = Setting(
    category="research", key="semantic_scholar_api_key", check=values.secret, kind="secret"
)
RESEARCH_CONTACT = Setting(category="research", key="contact", check=values.mail_address)
THEME = Setting(category="appearance", key="theme", check=values.one_of("system", "light", "dark"))
LANGUAGE = Setting(category="appearance", key="language", check=values.one_of("en", "zh"))
FACE = Setting(category="appearance", key="face", check=values.one_of("user", "developer"))
ENTER = Setting(category="appearance", key="enter", check=values.one_of("interrupts", "waits", "queues"))
"""The effect of Enter on a message while the agent works."""
NOTIFY_WAITING = Setting(category="notifications", key="waiting", check=values.flag)
NOTIFY_FINISHED = Setting(category="notifications", key="finished", check=values.flag)
NOTIFY_SOUND = Setting(category="notifications", key="sound", check=values.flag)

SETTINGS: tuple[Setting, ...] = (
    DEFAULT_MODEL,
    *ROLE_MODELS.values(),
    OPENAI_API_KEY,
    OPENAI_BASE_URL,
    OPENAI_MODELS,
    ANTHROPIC_API_KEY,
    ANTHROPIC_MODELS,
    ENABLE_THINKING,
    THINKING_EFFORT,
    MAX_TURNS,
    ENABLE_APPROVAL,
    ALLOWED_TOOLS,
    ASKED_TOOLS,
    DENIED_TOOLS,
    *SEARCH_KEYS.values(),
    OPENALEX_API_KEY,
    SEMANTIC_SCHOLAR_API_KEY,
    RESEARCH_CONTACT,
    THEME,
    LANGUAGE,
    FACE,
    ENTER,
    NOTIFY_WAITING,
    NOTIFY_FINISHED,
    NOTIFY_SOUND,
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


def setting_named(category: str, key: str) -> Setting:
    """Raises `SettingNotFoundError`."""
    setting = _BY_NAME.get(f"{category}/{key}")
    if setting is None:
        raise SettingNotFoundError(f"There is no setting {category}/{key}. GET /api/settings lists all.")
    return setting
