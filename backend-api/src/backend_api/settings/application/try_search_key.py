"""Testing a user's key of a search provider with one small search."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.domain.table import SEARCH_KEYS, KeyedSearch, Setting
from backend_api.settings.ports import SearchKeyTrials, SearchTrialResult

NOT_ASKED = "This server does not use users' own keys for this provider (SEARCH_PROVIDER)."


async def no_trials(provider: KeyedSearch, key: str) -> SearchTrialResult:
    """The trials of a gateway without web search: no key may be set there either."""
    raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class TrySearchKey:
    """Nothing is stored, and the deployment's keys are not tested. `search_keys` are those that users may set here.

    Raises `InvalidError` for a field of the body, `LimitError`, `StoreUnavailableError`.
    """

    open_settings: OpenSettings
    search_keys: Set[Setting]
    limiter: RateLimiter
    limits: Limits

    async def __call__(
        self, user_id: UserId, provider: KeyedSearch, key: str | None, trials: SearchKeyTrials
    ) -> SearchTrialResult:
        """Test `key`, or the user's saved key, by `trials`."""
        setting = SEARCH_KEYS[provider]
        if setting not in self.search_keys:
            raise InvalidError(NOT_ASKED, field="body.provider")
        tried = (await self.open_settings(user_id)).secret(setting) if key is None else _checked(setting, key)
        if not tried:
            raise InvalidError("You have no saved key to test: enter one.", field="body.key")
        await self.limiter.hit(f"key-tests:{user_id}", limit=self.limits.key_tests_per_minute, window_s=60)
        return await trials(provider, tried)


def _checked(setting: Setting, key: str) -> str:
    try:
        return str(setting.check(key))
    except InvalidError as error:
        raise InvalidError(error.detail, field="body.key", fault=error.fault) from error
