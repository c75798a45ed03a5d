"""What settings may be, and where users' keys may be sent."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.kit.errors import InvalidError
from backend_api.settings.domain.base_urls import BaseUrls
from backend_api.settings.domain.errors import SettingNotFoundError
from backend_api.settings.domain.table import SETTINGS, setting_named


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("models/openai_api_key", "  sk-abc \n", "sk-abc"),
        ("models/openai_models", ["a", "b", "a"], ["a", "b"]),
        ("models/default_model", " gpt ", "gpt"),
        ("agent/max_turns", 7, 7),
        ("agent/enable_thinking", False, False),
        ("appearance/theme", "dark", "dark"),
        ("appearance/language", "zh", "zh"),
        ("appearance/enter", "waits", "waits"),
        ("notifications/waiting", True, True),
    ],
)
def test_a_value_is_kept_as_it_is_used(name: str, value: Any, kept: Any) -> None:
    assert setting_named(*name.split("/")).check(value) == kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("models/openai_api_key", ""),
        ("models/openai_api_key", "sk-with a space"),
        ("models/openai_api_key", "sk-“quoted”"),
        ("models/openai_api_key", "sk-\r\nX-Header: 1"),
        ("models/openai_api_key", "k" * 501),
        ("models/openai_api_key", 7),
        ("models/openai_models", []),
        ("models/openai_models", "gpt"),
        ("models/openai_models", ["a", 1]),
        ("models/openai_models", ["x"] * 51),
        ("agent/max_turns", True),
        ("agent/max_turns", 0),
        ("agent/max_turns", 501),
        ("agent/max_turns", "7"),
        ("agent/enable_thinking", "yes"),
        ("agent/thinking_effort", "huge"),
        ("appearance/theme", ["dark"]),
        ("appearance/enter", "sends"),
        ("notifications/finished", 1),
        ("notifications/sound", "loud"),
    ],
)
def test_what_it_can_not_be_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidError) as refused:
        setting_named(*name.split("/")).check(value)
    assert refused.value.field == "body.value"


def test_an_unknown_one_is_named() -> None:
    with pytest.raises(SettingNotFoundError, match="models/openai_secret"):
        setting_named("models", "openai_secret")


def test_names_are_unique() -> None:
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize(
    "url", ["https://openrouter.ai/api/v1", "https://api.deepseek.com/", "https://api.openai.com:443/v1"]
)
def test_known_hosts_may_be_named(url: str) -> None:
    assert BaseUrls().check(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "http://openrouter.ai/api/v1",
        "https://openrouter.ai:8443/v1",
        "https://openrouter.ai@evil.example/v1",
        "https://user:pass@openrouter.ai/v1",
        "https://openrouter.ai.evil.example/v1",
        "https://evil.example/openrouter.ai",
        "https://openrouter.ai\\@evil.example/v1",
        "https://openrouter.ai/v1?next=http://10.0.0.1",
        "https://openrouter.ai/v1#a",
        "https://169.254.169.254/latest",
        "https://[::1]/v1",
        "https://localhost/v1",
        "https://OPENROUTER.ai.",
        "https://openrouter.ai:port/v1",
        "file:///etc/passwd",
        "gopher://openrouter.ai",
        "openrouter.ai",
        "https://[",
        "",
        7,
    ],
)
def test_no_other_address_is_taken(url: Any) -> None:
    with pytest.raises(InvalidError):
        BaseUrls().check(url)


def test_local_mode_takes_every_address_of_the_web() -> None:
    anywhere = BaseUrls(is_any=True)
    assert anywhere.check("http://127.0.0.1:11434/v1/") == "http://127.0.0.1:11434/v1"
    for url in (
        "file:///etc/passwd",
        "http://user:pass@127.0.0.1/v1",
        "ftp://x",
        "http://a b/v1",
        "http://x:0",
        "http://x?",
    ):
        with pytest.raises(InvalidError):
            anywhere.check(url)


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("not an address", "base_url_form"),
        ("https://[", "base_url_form"),
        ("http://openrouter.ai/v1", "base_url_https"),
        ("https://user:pass@openrouter.ai/v1", "base_url_credentials"),
        ("https://evil.example/v1", "base_url_host"),
    ],
)
def test_an_address_is_refused_with_a_code_of_what_is_wrong(url: str, fault: str) -> None:
    with pytest.raises(InvalidError) as refused:
        BaseUrls().check(url)
    assert refused.value.fault == fault


def test_a_key_with_a_space_is_refused_with_a_code() -> None:
    with pytest.raises(InvalidError) as refused:
        setting_named("models", "openai_api_key").check("sk-with a space")
    assert refused.value.fault == "key_characters"
