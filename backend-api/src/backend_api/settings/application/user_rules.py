"""The rules for what sessions of a user may choose."""

from __future__ import annotations

from dataclasses import dataclass, replace

from backend_api.agent.options import defaults_of
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.kit.ids import UserId
from backend_api.settings.application.effective_settings import OpenEffectiveSettings


@dataclass(frozen=True, slots=True)
class UserRules:
    """The deployment's rules, with the models of the user and the user's layer of options."""

    effective_settings: OpenEffectiveSettings
    deployment: OptionRules

    async def __call__(self, user_id: UserId) -> OptionRules:
        async with self.effective_settings(user_id) as effective:
            below = defaults_of(self.deployment.defaults, effective.options)
            return replace(self.deployment, models=effective.catalogue.models(), defaults=below)
