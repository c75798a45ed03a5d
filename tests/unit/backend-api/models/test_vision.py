"""Which models see pictures, by their names and by what the deployment says of them."""

from __future__ import annotations

import pytest

from backend_api.models.catalogue import Catalogue, LlmSettings
from backend_api.models.model_facts import ModelTable

SEEING = [
    "claude-sonnet-5",
    "claude-3-5-haiku-20241022",
    "anthropic/claude-opus-4.8",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "gpt-5.5",
    "gpt-4o-mini",
    "gpt-4.1",
    "gpt-4-turbo",
    "gpt-4-turbo-2024-04-09",
    "openai/gpt-5-codex",
    "o3",
    "o4-mini",
    "google/gemini-3-pro-preview",
    "gemma3:4b",
    "qwen/qwen3-vl-235b-a22b-instruct",
    "qwen2.5vl:7b",
    "llama3.2-vision:11b",
]
BLIND = [
    "claude-2.1",
    "gpt-3.5-turbo",
    "gpt-4",
    "gpt-oss:120b",
    "o1-mini",
    "o3-mini",
    "gpt-4o-audio-preview",
    "gpt-4o-search-preview",
    "deepseek-chat",
    "llama3.3:70b",
    "gemma3:1b",
    "gemma3:270m",
    "gemma3n:e4b",
    "google/gemma-3n-e4b-it:free",
    "gpt-4-turbo-preview",
    "gpt-4-0125-preview",
    "m",
    "scripted",
]


def test_known_families_see_and_names_that_say_nothing_do_not() -> None:
    for is_official in (True, False):
        seen = {
            name: bool(ModelTable().facts(name, "openai", is_official=is_official).pictures) for name in SEEING + BLIND
        }
        assert seen == dict.fromkeys(SEEING, True) | dict.fromkeys(BLIND, False)


async def test_what_the_deployment_says_counts_more() -> None:
    said = ("other", "my-own", "-gpt-4o")
    settings = LlmSettings(openai_key="k", model="my-own", models=("gpt-4o",), vision_models=said)
    async with Catalogue(settings) as catalogue:
        assert (catalogue.choose("my-own").info.vision, catalogue.choose("gpt-4o").info.vision) == (True, False)


@pytest.mark.parametrize("said", [(), ("mine",)])
async def test_models_on_offer_tell_whether_they_see(said: tuple[str, ...]) -> None:
    settings = LlmSettings(openai_key="k", model="gpt-5.5", models=("mine",), vision_models=said)
    async with Catalogue(settings) as catalogue:
        found = {model.id: model.vision for model in catalogue.models()}
    assert found == {"gpt-5.5": True, "mine": bool(said), "demo": False}
