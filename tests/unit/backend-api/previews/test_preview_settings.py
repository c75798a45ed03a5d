"""The domain of opened ports, by the settings."""

from __future__ import annotations

import pytest

from backend_api.main.settings import SettingsError, read_settings
from backend_api.previews.module import PreviewSettings


@pytest.mark.parametrize(
    ("mode", "said", "domain"),
    [
        ("local", "", "localhost"),
        ("password", "", ""),
        ("local", "off", ""),
        ("password", "Apps.Example.org:8443", "apps.example.org:8443"),
    ],
)
def test_ports_have_a_domain_where_one_is_named_and_in_local_mode(
    monkeypatch: pytest.MonkeyPatch, mode: str, said: str, domain: str
) -> None:
    monkeypatch.setenv("PREVIEW_DOMAIN", said)
    settings = read_settings(PreviewSettings)
    assert settings.policy(is_local=mode == "local", most=8).domain == domain


@pytest.mark.parametrize(
    "said",
    [
        *("https://apps.example.org", "*.example.org", "a b", "apps.example.org/x"),
        *("127.0.0.1", "127.0.0.1:8000", "apps.example.org:0", "apps.example.org:65536"),
    ],
)
def test_what_is_no_domain_stops_the_start(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("PREVIEW_DOMAIN", said)
    with pytest.raises(SettingsError, match="PREVIEW_DOMAIN"):
        read_settings(PreviewSettings)
