"""All settings of the gateway, read from the environment once."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.catalogue import Role
from backend_api.agent.model import CONTEXT_WINDOW, MAX_OUTPUT_TOKENS
from backend_api.agent.options import Effort, Options
from backend_api.agent.team import MAX_TEAMMATES
from backend_api.kit.http_address import check_http_address
from backend_api.kit.secret_file import checked_secret, keep_secret
from backend_api.kit.settings import Names, checked_key
from backend_api.models.wire.calls import RetryPolicy
from backend_api.runs.capabilities import (
    APPROVAL_TIMEOUT_S,
    COMPACT_THRESHOLD,
    MAX_TOKEN_BUDGET,
    MICRO_COMPACT_MIN_TOKENS,
)
from backend_api.web.fetch.rules import allowed_hosts

_RETRY = RetryPolicy()
"""Its defaults are those of the settings."""

S = TypeVar("S", bound=BaseSettings)


class SettingsError(Exception):
    """The start is refused; the message names the setting."""


_ANY_ADDRESS = ("0.0.0.0", "::", "*")


class Settings(BaseSettings):
    """One field a variable, of the same name in capitals. An empty variable is as good as none."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    host: Names = ("127.0.0.1",)
    port: int = Field(default=8000, ge=0, le=65535)
    bind_address: str = ""
    frontend_port: int = Field(default=0, ge=0, le=65535)
    data_dir: Path = Path(".data")
    frontend_dist: Path | None = None
    cors_origins: Names = ()
    allowed_hosts: Names = ()
    user_content_origin: str = ""
    public_url: str = ""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    mongo_uri: str = "mongodb://localhost:27017"
    mongo_db_name: str = "agent"
    redis_url: str | None = None
    redis_host: str = "localhost"
    redis_port: int = 6379

    secrets_key: SecretStr | None = None
    user_base_url_hosts: Names = ()
    max_runs_per_user: int = Field(default=20, ge=0)
    max_model_calls_mb_per_user: int = Field(default=500, ge=0)
    trusted_proxies: Names = ()
    max_streams_per_user: int = Field(default=50, ge=0)
    max_upload_bytes: int = Field(default=10 * 1024 * 1024, ge=1)

    sandbox_manager_url: str = "http://127.0.0.1:8001"
    sandbox_manager_token: SecretStr = SecretStr("")

    llm_provider: str = "auto"
    openai_api_key: SecretStr | None = None
    openai_base_url: str = ""
    openai_api: Literal["", "chat", "responses"] = ""
    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: str = ""
    model: str = ""
    models: Names = ()
    fallback_model: str = ""
    subagent_model: str = ""
    teammate_model: str = ""
    compact_model: str = ""
    title_model: str = ""
    models_file: Path | None = None
    vision_models: Names = ()
    demo_delay_ms: int = Field(default=20, ge=0)
    prompts_dir: Path | None = None
    default_preset: str = "general"
    tools_dir: Path | None = None
    max_turns: int = Field(default=50, ge=1)
    thinking_enabled: bool = False
    thinking_effort: Effort = "high"
    max_token_budget: int = Field(default=MAX_TOKEN_BUDGET, ge=1)
    max_run_cost: float | None = Field(default=None, gt=0)
    max_run_minutes: float | None = Field(default=None, gt=0, le=5_256_000)
    compact_threshold: float = Field(default=COMPACT_THRESHOLD, gt=0, lt=1)
    micro_compact_min_tokens: int = Field(default=MICRO_COMPACT_MIN_TOKENS, ge=1)
    max_output_tokens: int = Field(default=MAX_OUTPUT_TOKENS, ge=1)
    max_teammates: int = Field(default=MAX_TEAMMATES, ge=1, le=20)
    approval_timeout: float = Field(default=APPROVAL_TIMEOUT_S, ge=1.0, le=31_536_000.0)
    context_window: int = Field(default=CONTEXT_WINDOW, ge=1)
    llm_max_retries: int = Field(default=_RETRY.max_retries, ge=0)
    llm_retry_base_delay: float = Field(default=_RETRY.base_delay_s, ge=0)
    llm_retry_max_delay: float = Field(default=_RETRY.max_delay_s, ge=0)
    max_concurrent_runs: int = Field(default=50, ge=1)
    use_background_jobs: bool = False
    metrics_token: SecretStr = SecretStr("")
    worker_port: int = Field(default=0, ge=0, le=65535)
    fetch_allowed_hosts: Names = ()
    fetch_proxy: SecretStr = SecretStr("")

    @field_validator("user_content_origin", "public_url")
    @classmethod
    def _origin(cls, value: str) -> str:
        parts = urlsplit(value.strip().rstrip("/").lower())
        if value.strip() and (parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query):
            raise ValueError("is an origin, such as https://files.example.org")
        return parts.geturl()

    @field_validator("fetch_allowed_hosts")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        allowed_hosts(value)
        return value

    @field_validator("openai_api_key", "anthropic_api_key")
    @classmethod
    def _key(cls, value: SecretStr | None) -> SecretStr | None:
        return checked_key(value)

    @field_validator("openai_base_url", "anthropic_base_url")
    @classmethod
    def _base_url(cls, value: str) -> str:
        url = value.strip()
        if url:
            check_http_address(url)
        if "?" in url:
            raise ValueError("paths such as /chat/completions are added at its end, so it has no ? in it")
        return url

    @field_validator("sandbox_manager_url")
    @classmethod
    def _manager_url(cls, value: str) -> str:
        check_http_address(value.strip())
        return value.strip()

    @field_validator("fetch_proxy")
    @classmethod
    def _proxy(cls, value: SecretStr) -> SecretStr:
        parts = urlsplit(value.get_secret_value())
        if value.get_secret_value() and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("is the address of a proxy, such as http://proxy.example.org:3128")
        return value

    @property
    def session_defaults(self) -> Options:
        """The deployment's layer of what sessions may choose."""
        return Options(
            preset=self.default_preset,
            max_turns=self.max_turns,
            enable_thinking=self.thinking_enabled or None,
            thinking_effort=self.thinking_effort,
        )

    @property
    def role_models(self) -> dict[Role, str]:
        """The models that are named for a role, empty for none."""
        return {
            "subagent": self.subagent_model,
            "teammate": self.teammate_model,
            "compact": self.compact_model,
            "title": self.title_model,
            "fallback": self.fallback_model,
        }

    @property
    def link_origin(self) -> str:
        """With which links begin that are made for nobody's request: as the settings have it, else where the page
        answers, on this machine where that is any address of it. Empty where the port is not known."""
        host = self.bind_address or self.host[0]
        port = self.frontend_port or self.port
        if self.user_content_origin or self.public_url or not port:
            return self.user_content_origin or self.public_url
        host = "127.0.0.1" if host in _ANY_ADDRESS else host
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def redis_address(self) -> str:
        """`REDIS_URL`, else host and port."""
        return self.redis_url or f"redis://{self.redis_host}:{self.redis_port}/0"


def secrets_of(settings: Settings, of_modules: Iterable[BaseSettings] = ()) -> list[str]:
    """All that must not be read anywhere: the secrets among the settings, those of modules too, and passwords in
    addresses."""
    values = [getattr(one, name) for one in (settings, *of_modules) for name in type(one).model_fields]
    found = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    addresses = (settings.mongo_uri, settings.redis_address, settings.fetch_proxy.get_secret_value())
    passwords = [urlsplit(address).password or "" for address in addresses]
    known = (*found, *passwords, *map(unquote, passwords))
    return [secret for secret in known if secret]


def named_hosts(settings: Settings) -> tuple[str, ...]:
    """The names in the addresses that this server is said to have: its own, and that of links of users' files."""
    found = (urlsplit(address).hostname for address in (settings.public_url, settings.user_content_origin))
    return tuple(name for name in found if name)


def read_settings(kind: type[S]) -> S:
    """Those of the gateway or of a module, from the environment. Raises `SettingsError` that names what is wrong."""
    try:
        return kind()
    except ValidationError as error:
        named = "; ".join(f"{str(entry['loc'][0]).upper()}: {entry['msg']}" for entry in error.errors())
        raise SettingsError(f"Not valid: {named}") from error


def load_settings() -> Settings:
    """Raises `SettingsError` that names what is wrong."""
    return read_settings(Settings)


def resolve_hosts(settings: Settings) -> list[str]:
    """The addresses to listen on: names are resolved now. Raises `SettingsError`."""
    addresses: list[str] = []
    for host in settings.host:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except OSError as error:
            raise SettingsError(f"HOST: {host} can't be resolved") from error
        wanted = [str(entry[4][0]) for entry in found if entry[0] == socket.AF_INET] or [str(found[0][4][0])]
        # Replicas of one service share a name: of its addresses, ours is the one that can be bound.
        addresses.append(next((address for address in wanted if _is_local(address)), wanted[0]))
    return list(dict.fromkeys(addresses))


def sealing_secrets(settings: Settings, *, is_local: bool) -> tuple[str, ...]:
    """`SECRETS_KEY`, the one that seals first, or in local mode one that is made once and kept. Empty where people
    can't store keys. Raises `ValueError`."""
    if settings.secrets_key is None:
        return (keep_secret(settings.data_dir, "secrets_key"),) if is_local else ()
    secrets = [part.strip() for part in settings.secrets_key.get_secret_value().split(",") if part.strip()]
    if not secrets:
        raise ValueError("SECRETS_KEY has no secret in it: set random bytes, or leave it empty to store no keys.")
    return tuple(checked_secret("SECRETS_KEY", secret) for secret in secrets)


def _is_local(address: str) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
