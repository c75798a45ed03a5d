"""Settings of a user: as they are stored, and as they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backend_api.agent.options import Options
from backend_api.kit.ids import UserId
from backend_api.settings.domain import table
from backend_api.settings.domain.table import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A secret encrypted with the key of this id."""

    key_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSettings:
    """Stored settings by their names. `version` grows with each change."""

    user_id: UserId
    version: int
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    secrets: Mapping[str, Sealed] = field(default_factory=dict[str, Sealed])


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """A user's settings, ready to be used. `unreadable` are set, but sealed under a key that is not known here."""

    user_id: UserId
    version: int = 0
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    unreadable: frozenset[str] = frozenset()

    def value(self, setting: Setting) -> Any:
        """The value, or None if it is not set."""
        return self.values.get(setting.name)

    def secret(self, setting: Setting) -> str:
        """The secret; empty if it is not set, or can't be decrypted."""
        return self.secrets.get(setting.name, "")

    def has(self, setting: Setting) -> bool:
        """Whether it is set, be it readable or not."""
        return setting.name in self.values or setting.name in self.secrets or setting.name in self.unreadable

    def with_value(self, setting: Setting, value: Any) -> UserSettings:
        """The settings with this one set, or unset if `value` is None."""
        values = {name: one for name, one in self.values.items() if name != setting.name}
        secrets = {name: one for name, one in self.secrets.items() if name != setting.name}
        if value is not None:
            (secrets if setting.kind == "secret" else values)[setting.name] = value
        return UserSettings(
            user_id=self.user_id,
            version=self.version,
            values=values,
            secrets=secrets,
            unreadable=self.unreadable - {setting.name},
        )

    @property
    def options(self) -> Options:
        """The user's layer of options. The default model is not part of it: it belongs to the catalogue."""
        return Options(
            max_turns=self.value(table.MAX_TURNS),
            enable_thinking=self.value(table.ENABLE_THINKING),
            thinking_effort=self.value(table.THINKING_EFFORT),
            enable_approval=self.value(table.ENABLE_APPROVAL),
            allowed_tools=self._rules(table.ALLOWED_TOOLS),
            asked_tools=self._rules(table.ASKED_TOOLS),
            denied_tools=self._rules(table.DENIED_TOOLS),
        )

    def _rules(self, setting: Setting) -> frozenset[str] | None:
        rules = self.value(setting)
        return None if rules is None else frozenset(rules)
