"""Models a deployment names for what they are to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend_api.agent.catalogue import Role
from backend_api.models.catalogue import Catalogue, LlmSettingError, LlmSettings

OPENAI: dict[str, Any] = {"provider": "openai", "model": "gpt-5.5", "openai_key": "k"}
LOCAL: dict[str, Any] = {"provider": "openai", "model": "qwen3:8b", "openai_base_url": "http://127.0.0.1:11434/v1"}


@pytest.mark.parametrize(
    ("settings", "name", "provider"),
    [
        (OPENAI, "gpt-5.5", "openai"),
        (OPENAI, "gpt-5.4-mini", "openai"),
        (OPENAI | {"anthropic_key": "k"}, "claude-haiku-5-5", "anthropic"),
        (OPENAI | {"models": ("my-tune",)}, "my-tune", "openai"),
        (LOCAL, "qwen3:8b", "openai"),
        (LOCAL | {"anthropic_key": "k"}, "claude-haiku-5-5", "anthropic"),
        (LOCAL, "anthropic/claude-haiku-5-5", "openai"),
        ({"provider": "demo"}, "demo", "demo"),
    ],
)
def test_a_role_has_a_model_on_offer_or_one_that_is_known_and_whose_provider_has_a_key(
    settings: dict[str, Any], name: str, provider: str
) -> None:
    catalogue = Catalogue(LlmSettings(**settings, roles={"subagent": name}))
    chosen = catalogue.role("subagent")
    assert chosen is not None
    assert (chosen.info.id, chosen.info.provider) == (name, provider)
    assert catalogue.role("fallback") is None


def test_a_model_of_another_service_is_told_from_those_that_its_provider_serves() -> None:
    catalogue = Catalogue(LlmSettings(**LOCAL | {"anthropic_key": "k"}, roles={"subagent": "claude-haiku-5-5"}))
    chosen = catalogue.role("subagent")
    assert chosen is not None
    assert chosen.info.is_official
    assert [info.is_official for info in catalogue.models() if info.provider == "openai"] == [False]


def test_a_model_of_a_role_is_not_on_offer_by_that() -> None:
    catalogue = Catalogue(LlmSettings(**OPENAI, roles={"fallback": "gpt-5.4-mini", "subagent": ""}))
    assert [info.id for info in catalogue.models()] == ["gpt-5.5", "demo"]
    assert catalogue.role("subagent") is None


@pytest.mark.parametrize(
    ("role", "setting"),
    [
        ("subagent", "SUBAGENT_MODEL"),
        ("compact", "COMPACT_MODEL"),
        ("title", "TITLE_MODEL"),
        ("fallback", "FALLBACK_MODEL"),
    ],
)
@pytest.mark.parametrize(
    ("settings", "name"),
    [(OPENAI, "gpt-99"), (OPENAI, "claude-haiku-5-5"), (LOCAL, "qwen3:32b"), ({"provider": "demo"}, "gpt-5.5")],
)
def test_an_unknown_one_stops_the_start_with_the_name_of_the_setting(
    settings: dict[str, Any], name: str, role: Role, setting: str
) -> None:
    with pytest.raises(LlmSettingError, match=f"^{setting}={name} is unknown"):
        Catalogue(LlmSettings(**settings, roles={role: name}))


def test_the_deployments_file_makes_a_model_known(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[[model]]\nnames = ["qwen3:*"]\nprices = { input = 0, output = 0 }')
    chosen = Catalogue(LlmSettings(**LOCAL, models_file=path, roles={"subagent": "qwen3:32b"})).role("subagent")
    assert chosen is not None
    assert (chosen.info.provider, chosen.info.prices is not None) == ("openai", True)
