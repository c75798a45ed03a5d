"""A key that is tried is that of the provider it is tried for, whatever else its user has set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend_api.agent.catalogue import ProviderName
from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.kit.ids import UserId
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings
from backend_api.models.wire.calls import RetryPolicy
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.application.try_key import Trial, TryKey
from backend_api.settings.domain.base_urls import BaseUrls
from backend_api.settings.secret_box import AesSecretBox
from backend_api.settings.user_catalogues import UserCatalogues
from support.memory.store import MemoryStore
from support.memory.user_settings import MemorySettingsStore
from support.model_server import Answer, ModelServer

ANNA = UserId("anna")
TRIED = "sk-tried-0123456789"
BOTH: dict[str, Any] = {"openai_models": ["same"], "anthropic_models": ["same"]}


async def tried(server: ModelServer, provider: ProviderName, values: dict[str, Any], models: Path | None = None) -> str:
    """With a key of the other provider saved, too. The outcome."""
    store, box, limits = MemorySettingsStore(MemoryStore()), AesSecretBox(["secret"]), Limits()
    other = "anthropic" if provider == "openai" else "openai"
    saved = f"models/{other}_api_key"
    await store.change(ANNA, saved, box.seal("sk-saved-0123456789", bound_to=f"{ANNA}\n{saved}"))
    for name, value in values.items():
        await store.change(ANNA, f"models/{name}", value)
    settings = LlmSettings(anthropic_base_url=server.url, openai_base_url=server.openai_url, models_file=models)
    urls, retry = BaseUrls(is_any=True), RetryPolicy()
    async with (
        Catalogue(settings, retry) as deployment,
        UserCatalogues(deployment, settings, retry, base_urls=urls) as catalogues,
    ):
        try_key = TryKey(
            open_settings=OpenSettings(store, box),
            catalogues=catalogues,
            base_urls=urls,
            limiter=InProcessRateLimiter(),
            limits=limits,
        )
        result = await try_key(ANNA, Trial(provider=provider, key=TRIED, model="same"))
    return result.outcome


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("values", [{}, BOTH, {**BOTH, "default_model": "same"}])
async def test_the_tried_key_is_sent_though_another_provider_has_the_same_model(
    provider: ProviderName, values: dict[str, Any]
) -> None:
    async with ModelServer() as server:
        assert await tried(server, provider, values) == "ok"
        assert [TRIED in " ".join(headers.values()) for headers in server.headers] == [True]


@pytest.mark.parametrize("answer", [Answer(), Answer(status=503)])
async def test_a_key_is_tried_with_one_call_also_where_a_run_would_ask_again(answer: Answer) -> None:
    async with ModelServer(answer) as server:
        assert await tried(server, "openai", {}) == ("ok" if answer.status == 200 else "unreachable")
        assert len(server.requests) == 1


async def test_what_the_deployment_says_of_a_model_of_another_provider_ends_no_trial(tmp_path: Path) -> None:
    models = tmp_path / "models.toml"
    models.write_text('[[model]]\nnames = ["same"]\nthinking_form = "adaptive"\n')
    async with ModelServer() as server:
        assert await tried(server, "openai", {}, models) == "ok"
