"""What goes to a provider with a user's key, or to a user's address: nothing of the deployment's environment."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.model import ModelRequest, UserTurn
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings
from support.model_server import ModelServer

OF_DEPLOYMENT = {
    "OPENAI_API_KEY": "house-key-openai",
    "OPENAI_ADMIN_KEY": "house-key-admin",
    "OPENAI_ORG_ID": "house-organization",
    "OPENAI_PROJECT_ID": "house-project",
    "OPENAI_CUSTOM_HEADERS": "X-Gateway: house-gateway\nAuthorization: Bearer house-authorization",
    "ANTHROPIC_API_KEY": "house-key-anthropic",
    "ANTHROPIC_AUTH_TOKEN": "house-token",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Gateway: house-gateway\nAuthorization: Bearer house-authorization",
}


@pytest.mark.parametrize(
    ("provider", "form", "key"),
    [
        ("openai", "chat", ""),
        ("openai", "chat", "sk-users"),
        ("openai", "responses", "sk-users"),
        ("anthropic", "", "sk-users"),
    ],
)
@pytest.mark.parametrize("is_own", [True, False])
async def test_nothing_of_the_deployment_goes_with_a_users_key(
    provider: str, form: Any, key: str, *, is_own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in OF_DEPLOYMENT.items():
        monkeypatch.setenv(name, value)
    async with ModelServer() as server:
        settings = LlmSettings(
            provider=provider,
            model="m",
            openai_key=key if provider == "openai" else "",
            openai_base_url=server.openai_url if provider == "openai" else "",
            openai_api=form,
            anthropic_key=key if provider == "anthropic" else "",
            anthropic_base_url=server.url,
            own=frozenset({provider} if is_own else ()),
        )
        async with Catalogue(settings) as catalogue:
            request = ModelRequest(model="m", system="s", turns=[UserTurn(text="hi")], tools=[], max_output_tokens=99)
            async for _ in catalogue.choose("m").chat.stream(request):
                pass
    sent = " ".join(server.headers[0].values())
    # A deployment's own calls say what its environment has for them, so the server would have seen it.
    assert ("house-" in sent) is not is_own
    assert key in sent or not is_own
