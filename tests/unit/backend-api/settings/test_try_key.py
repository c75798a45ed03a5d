"""A key that is tried: its outcome by what its provider says, and within a bound."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from backend_api.agent.model import ModelInfo, ModelRateLimitError, ModelUnavailableError
from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.settings.application.try_key import Trial, TrialResult, TryKey
from backend_api.settings.domain.table import OPENAI_API_KEY, OPENAI_BASE_URL
from support.memory.store import MemoryStore
from support.memory.user_settings import MemorySettingsStore
from support.scripted import Script, ScriptedModel
from support.user_settings import settings_parts

ANNA, KEY = UserId("anna"), "sk-anna-0123456789"
HERE, ELSEWHERE = "https://openrouter.ai/api/v1", "https://api.deepseek.com"


def trying(script: Script, store: MemorySettingsStore | None = None) -> TryKey:
    info = ModelInfo(id="m", label="M", provider="openai")
    parts = settings_parts(store or MemorySettingsStore(MemoryStore()), info, chat=ScriptedModel(script))
    return TryKey(
        open_settings=parts.open_settings,
        catalogues=parts.catalogues,
        base_urls=parts.base_urls,
        limiter=InProcessRateLimiter(),
        limits=Limits(),
    )


async def test_one_that_reached_its_limit_and_a_provider_that_is_not_there_are_told_apart() -> None:
    trial = Trial(provider="openai", key=KEY)
    limited = await trying([ModelRateLimitError("Too many.")])(ANNA, trial)
    assert limited == TrialResult(outcome="limit", model="m", detail="Too many.")
    gone = await trying([ModelUnavailableError("Nobody is there.")])(ANNA, trial)
    assert gone == TrialResult(outcome="unreachable", model="m", detail="Nobody is there.")


async def test_a_provider_that_says_nothing_is_not_waited_for() -> None:
    impatient = replace(trying([asyncio.Event().wait]), answer_s=0.01)
    result = await impatient(ANNA, Trial(provider="openai", key=KEY))
    assert (result.outcome, result.detail) == ("unreachable", "There was no answer within 0.01 seconds.")


async def test_without_a_model_of_the_provider_it_is_said_that_one_is_to_be_named() -> None:
    with pytest.raises(InvalidError, match="name one") as refused:
        await trying([])(ANNA, Trial(provider="anthropic", key=KEY))
    assert refused.value.field == "body.model"


@pytest.mark.parametrize("saved", [None, HERE])
async def test_a_saved_key_is_tried_at_no_other_address(saved: str | None) -> None:
    store = MemorySettingsStore(MemoryStore())
    if saved:
        await store.change(ANNA, OPENAI_BASE_URL.name, saved)
    sealed = settings_parts(store).box.seal(KEY, bound_to=f"{ANNA}\n{OPENAI_API_KEY.name}")
    await store.change(ANNA, OPENAI_API_KEY.name, sealed)
    try_key = trying([], store)
    for other in {ELSEWHERE, HERE, ""} - {saved or ""}:
        with pytest.raises(InvalidError) as refused:
            await try_key(ANNA, Trial(provider="openai", base_url=other))
        assert refused.value.field == "body.key"
    for same in (None, f"{saved}/" if saved else " "):
        assert (await try_key(ANNA, Trial(provider="openai", base_url=same))).outcome == "ok"
    assert (await try_key(ANNA, Trial(provider="openai", base_url=ELSEWHERE, key=KEY))).outcome == "ok"
