"""A start that is not safe is refused with the name of the setting."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from pydantic import SecretStr
from pydantic_settings import BaseSettings

from backend_api.identity.application.limits import Limits, Quotas
from backend_api.kit.signed_tokens import Signing
from backend_api.main.modules import MODULES
from backend_api.main.runtime import plan
from backend_api.main.settings import (
    Settings,
    SettingsError,
    load_settings,
    read_settings,
    resolve_hosts,
    secrets_of,
)
from backend_api.mcp.module import McpSettings
from backend_api.models.module import ModelSettings
from backend_api.runs.agent_module import AgentSettings
from backend_api.sandboxes.module import SandboxSettings
from backend_api.settings.module import UserSettingsSettings, sealing_secrets
from backend_api.web.fetch.module import FetchSettings
from backend_api.web.module import WebSettings

GOOD = "Zk3vXq81LmN0pRtYw7uBcD5eFgH2iJ4a"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("JWT_SECRET_KEY", "SECRETS_KEY", "AUTH_MODE", "HOST", "PORT", "BIND_ADDRESS", "FRONTEND_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))


def sealing(*, is_local: bool) -> tuple[str, ...]:
    return sealing_secrets(read_settings(UserSettingsSettings), load_settings().data_dir, is_local=is_local)


def signing_secret() -> str:
    return plan(load_settings()).made.required("signing", Signing).secret


@pytest.mark.parametrize("secret", ["", "short", "change-me-change-me-change-me-change-me", "a" * 64])
def test_a_bad_signing_secret_stops_the_start(monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    monkeypatch.setenv("JWT_SECRET_KEY", secret)
    with pytest.raises(SettingsError, match="JWT_SECRET_KEY"):
        plan(load_settings())


def test_a_good_signing_secret_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JWT_SECRET_KEY", GOOD)
    assert signing_secret() == GOOD


def test_local_mode_makes_a_secret_once_and_keeps_it_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUTH_MODE", "local")
    first = signing_secret()
    assert signing_secret() == first
    assert len(first) >= 32
    assert stat.S_IMODE((tmp_path / "jwt_secret_key").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "secret", ["short", "change-me-change-me-change-me-change-me", "a" * 64, f"{GOOD},short", " , "]
)
def test_a_bad_sealing_secret_stops_the_start(monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    monkeypatch.setenv("SECRETS_KEY", secret)
    with pytest.raises(ValueError, match="SECRETS_KEY"):
        sealing(is_local=False)


def test_sealing_secrets_are_several_none_or_made_in_local_mode(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert sealing(is_local=False) == ()
    monkeypatch.setenv("SECRETS_KEY", f" {GOOD[::-1]} , {GOOD},")
    assert sealing(is_local=False) == (GOOD[::-1], GOOD)
    monkeypatch.delenv("SECRETS_KEY")
    made = sealing(is_local=True)
    assert sealing(is_local=True) == made
    assert stat.S_IMODE((tmp_path / "secrets_key").stat().st_mode) == 0o600


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1,192.168.1.5", "example.org"])
def test_local_mode_listens_on_loopback_only(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("AUTH_MODE", "local")
    monkeypatch.setenv("HOST", host)
    with pytest.raises(SettingsError, match="HOST"):
        plan(load_settings())


def test_limits_are_those_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JWT_SECRET_KEY", GOOD)
    usual = plan(load_settings()).made
    assert usual.required("limits", Limits) == Limits()
    assert usual.required("quotas", Quotas) == Quotas()
    monkeypatch.setenv("RATE_LIMITS", "login=3/minute,password-changes=0")
    monkeypatch.setenv("QUOTAS", "waiting-messages=7,opened-ports=2,sessions=9")
    made = plan(load_settings()).made
    assert made.required("limits", Limits) == Limits(
        login_per_minute=3, password_changes_per_hour=0, sessions_in_all=9, waiting_messages=7
    )
    assert made.required("quotas", Quotas) == Quotas(waiting_messages=7, opened_ports=2, sessions=9)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("RATE_LIMITS", "logins=3/minute", "login=10/minute, register=20/hour"),
        ("RATE_LIMITS", "register=3/minute", "register=20/hour"),
        ("QUOTAS", "computers=3", "sessions=10000, schedules=100"),
        ("QUOTAS", "opened-ports=0", "from 1 to 100"),
    ],
)
def test_limits_that_are_none_stop_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    monkeypatch.setenv("JWT_SECRET_KEY", GOOD)
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"{name}: .*{reason}"):
        plan(load_settings())


def test_openai_is_asked_in_one_of_two_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted in ("", "chat", "responses"):
        monkeypatch.setenv("OPENAI_API", wanted)
        assert read_settings(ModelSettings).openai_api == wanted
    monkeypatch.setenv("OPENAI_API", "completions")
    with pytest.raises(SettingsError, match=r"OPENAI_API.*'chat' or 'responses'"):
        read_settings(ModelSettings)


def test_a_wrong_value_names_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTH_MODE", "none")
    with pytest.raises(SettingsError, match="AUTH_MODE"):
        plan(load_settings())


@pytest.mark.parametrize(
    ("kind", "name"),
    [(ModelSettings, "OPENAI_API_KEY"), (ModelSettings, "ANTHROPIC_API_KEY"), (WebSettings, "TAVILY_API_KEY")],
)
def test_a_key_that_no_header_takes_stops_the_start_without_being_said(
    monkeypatch: pytest.MonkeyPatch, kind: type[BaseSettings], name: str
) -> None:
    for key in ("sk-\u201cabcdefgh\u201d", "sk-abc defgh"):
        monkeypatch.setenv(name, key)
        with pytest.raises(SettingsError, match=name) as refused:
            read_settings(kind)
        assert "sk-" not in str(refused.value)


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"])
def test_an_address_of_a_provider_that_none_can_have_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    wrongs = {
        "htp:/x": "must begin with http:// or https://",
        "llm.example.org/v1": "must begin with http:// or https://",
        "http://": "the host is missing",
        "http://[::1": "host is neither a name nor",
        "http://a b/v1": "can't contain spaces",
        "http://llm.example.org:99999": "must be a number from 1 to 65535",
        "https://anna:hidden@llm.example.org/v1": "can't contain a user name or password",
        "https://llm.example.org/v1#x": "can't contain #",
        "https://llm.example.org/v1?version=hidden": r"can't contain \?",
        "https://llm.example.org/v1?": r"can't contain \?",
        "http://[::1]llm.example.org/v1": "the host is missing",
    }
    for address, reason in wrongs.items():
        monkeypatch.setenv(name, address)
        with pytest.raises(SettingsError, match=f"{name}: .*{reason}") as refused:
            read_settings(ModelSettings)
        assert "hidden" not in str(refused.value)


def test_an_address_of_a_provider_is_kept_without_what_surrounds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in (
        "http://127.0.0.1:11434/v1",
        "https://llm.example.org/v1/",
        "http://[::1]:8000/v1",
        "http://ollama",
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", f" {address}\n")
        assert read_settings(ModelSettings).openai_base_url == address


@pytest.mark.parametrize("address", ["manager:8001", "http://", "http://manager:99999", "unix:/run/manager.sock"])
def test_an_address_of_the_manager_that_none_can_have_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("SANDBOX_MANAGER_URL", address)
    with pytest.raises(SettingsError, match="SANDBOX_MANAGER_URL"):
        read_settings(SandboxSettings)


@pytest.mark.parametrize("minutes", ["inf", "nan", "1e13", "0"])
def test_a_time_that_no_run_can_be_measured_by_stops_the_start(monkeypatch: pytest.MonkeyPatch, minutes: str) -> None:
    monkeypatch.setenv("MAX_RUN_MINUTES", minutes)
    with pytest.raises(SettingsError, match="MAX_RUN_MINUTES"):
        read_settings(AgentSettings)


def test_the_end_of_a_line_is_no_part_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefgh\n")
    settings = read_settings(ModelSettings)
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == "sk-abcdefgh"
    assert "sk-abcdefgh" in secrets_of(load_settings(), [settings])


def test_secrets_of_modules_are_masked_too() -> None:
    class Paid(BaseSettings):
        source_api_key: SecretStr = SecretStr("of-a-module-0123")

    assert "of-a-module-0123" in secrets_of(load_settings(), [Paid()])


def test_hosts_are_a_list_of_names_and_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "127.0.0.1, localhost,127.0.0.2")
    assert resolve_hosts(load_settings()) == ["127.0.0.1", "127.0.0.2"]
    monkeypatch.setenv("HOST", "no-such-host.invalid")
    with pytest.raises(SettingsError, match="HOST"):
        resolve_hosts(load_settings())


def test_all_that_is_secret_among_the_settings_is_known_to_be_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "JWT_SECRET_KEY": GOOD,
        "SECRETS_KEY": f"{GOOD}new,{GOOD}old",
        "OPENAI_API_KEY": "of-openai",
        "ANTHROPIC_API_KEY": "of-anthropic",
        "TAVILY_API_KEY": "of-tavily",
        "BRAVE_API_KEY": "of-brave",
        "SERPER_API_KEY": "of-serper",
        "CUSTOM_SEARCH_API_KEY": "of-search",
        "METRICS_TOKEN": "of-metrics",
        "SANDBOX_MANAGER_TOKEN": "of-manager",
        "MONGO_URI": "mongodb://root:of%40mongo@db/",
        "REDIS_URL": "redis://:of-redis@cache:6379/0",
        "FETCH_PROXY": "http://anna:of-proxy@proxy:3128",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    known = plan(load_settings()).made.secrets
    own = {value for value in given.values() if "://" not in value}
    assert {*own, f"{GOOD}new", f"{GOOD}old", "of%40mongo", "of@mongo", "of-redis", "of-proxy"} <= set(known)
    assert "" not in known


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("FETCH_ALLOWED_HOSTS", value) for value in ("http://wiki.example", "127.1", "wiki.internal,a b", "a:x")),
        ("MCP_ALLOWED_HOSTS", "http://wiki.example"),
        *(("FETCH_PROXY", value) for value in ("proxy:3128", "socks5://proxy:1080", "http://", "x")),
    ],
)
def test_what_names_no_host_or_proxy_of_fetches_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    kind = McpSettings if name.startswith("MCP") else FetchSettings
    with pytest.raises(SettingsError, match=name):
        read_settings(kind)


def test_hosts_and_a_proxy_of_fetches_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FETCH_ALLOWED_HOSTS", "wiki.internal, 10.0.0.7:8080")
    monkeypatch.setenv("FETCH_PROXY", "http://proxy:3128")
    monkeypatch.setenv("MCP_ALLOWED_HOSTS", "tools.internal")
    assert read_settings(McpSettings).mcp_allowed_hosts == ("tools.internal",)
    settings = read_settings(FetchSettings)
    assert settings.fetch_allowed_hosts == ("wiki.internal", "10.0.0.7:8080")
    assert settings.fetch_proxy.get_secret_value() == "http://proxy:3128"


def test_what_the_example_says_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    example = (Path(__file__).parents[4] / ".env.example").read_text(encoding="utf-8")
    said = dict(re.findall(r"^([A-Z]\w*)=(.+)$", example, re.MULTILINE))
    kinds = [Settings, *(module.settings for module in MODULES)]
    for name in {name for kind in kinds for name in kind.model_fields}:
        monkeypatch.delenv(name.upper(), raising=False)
    defaults = [kind() for kind in kinds]
    # Of compose, which says them to the gateway; alone it answers where it listens.
    for name in said.keys() - {"BIND_ADDRESS", "FRONTEND_PORT"}:
        monkeypatch.setenv(name, said[name])
    assert said["APPROVAL_TIMEOUT"] == "300"
    assert [kind() for kind in kinds] == defaults


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ({"PUBLIC_URL": "https://chat.example.org"}, "https://chat.example.org"),
        (
            {"PUBLIC_URL": "https://chat.example.org", "USER_CONTENT_ORIGIN": "https://files.example.org"},
            "https://files.example.org",
        ),
        ({}, "http://127.0.0.1:8000"),
        ({"HOST": "192.0.2.7", "PORT": "9000"}, "http://192.0.2.7:9000"),
        ({"HOST": "0.0.0.0,::"}, "http://127.0.0.1:8000"),
        ({"HOST": "::1"}, "http://[::1]:8000"),
        ({"HOST": "gateway-edge", "BIND_ADDRESS": "0.0.0.0", "FRONTEND_PORT": "5173"}, "http://127.0.0.1:5173"),
        ({"PORT": "0"}, ""),
    ],
)
def test_links_that_nobody_asks_for_in_a_request_begin_with_a_whole_address(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], origin: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert load_settings().link_origin == origin
