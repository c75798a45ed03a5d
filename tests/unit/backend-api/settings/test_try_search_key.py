"""A key of web search that is tried: whose it is, for which providers, and how often."""

from __future__ import annotations

import pytest

from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.kit.errors import InvalidError, LimitError
from backend_api.kit.ids import UserId
from backend_api.settings.application.open_settings import bound_to
from backend_api.settings.application.try_search_key import TrySearchKey
from backend_api.settings.domain.table import BRAVE_API_KEY, SERPER_API_KEY, KeyedSearch, Setting
from backend_api.settings.ports import SearchTrialResult
from support.memory.store import MemoryStore
from support.memory.user_settings import MemorySettingsStore
from support.user_settings import settings_parts

ANNA, BERT = UserId("anna"), UserId("bert")


class Trying:
    """Remembers what was tried, which always works."""

    def __init__(self, *search_keys: Setting) -> None:
        self.store = MemorySettingsStore(MemoryStore())
        self.parts = settings_parts(self.store)
        self.tried: list[tuple[KeyedSearch, str]] = []
        self.try_key = TrySearchKey(
            open_settings=self.parts.open_settings,
            search_keys=set(search_keys),
            limiter=InProcessRateLimiter(),
            limits=Limits(key_tests_per_minute=2),
        )

    async def trial(self, provider: KeyedSearch, key: str) -> SearchTrialResult:
        self.tried.append((provider, key))
        return SearchTrialResult(outcome="ok")

    async def keep(self, user: UserId, setting: Setting, key: str) -> None:
        await self.store.change(user, setting.name, self.parts.box.seal(key, bound_to=bound_to(user, setting.name)))


async def test_a_typed_key_counts_more_than_the_saved_one_and_nobody_elses_is_tried() -> None:
    there = Trying(BRAVE_API_KEY)
    await there.keep(BERT, BRAVE_API_KEY, "of-bert")
    with pytest.raises(InvalidError) as refused:
        await there.try_key(ANNA, "brave", None, there.trial)
    assert refused.value.field == "body.key"
    await there.keep(ANNA, BRAVE_API_KEY, "of-anna")
    assert (await there.try_key(ANNA, "brave", None, there.trial)).outcome == "ok"
    await there.try_key(ANNA, "brave", " typed ", there.trial)
    assert there.tried == [("brave", "of-anna"), ("brave", "typed")]


@pytest.mark.parametrize(("provider", "key"), [("serper", "typed"), ("brave", "two words"), ("brave", "")])
async def test_what_is_never_asked_is_not_tried(provider: KeyedSearch, key: str) -> None:
    there = Trying(BRAVE_API_KEY)
    await there.keep(ANNA, SERPER_API_KEY, "of-anna")
    with pytest.raises(InvalidError):
        await there.try_key(ANNA, provider, key, there.trial)
    assert there.tried == []


async def test_keys_can_not_be_guessed_by_trying() -> None:
    there = Trying(BRAVE_API_KEY)
    for key in ("one", "two"):
        await there.try_key(ANNA, "brave", key, there.trial)
    with pytest.raises(LimitError):
        await there.try_key(ANNA, "brave", "three", there.trial)
    assert (await there.try_key(BERT, "brave", "three", there.trial)).outcome == "ok"
