"""All settings of the gateway, read from the environment once."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.kit.settings import Names

S = TypeVar("S", bound=BaseSettings)


class SettingsError(Exception):
    """The settings prevent the start; the message names the setting."""


_ANY_ADDRESS = ("0.0.0.0", "::", "*")


class Settings(BaseSettings):
    """One field for each variable, with the same name in capitals. An empty variable counts as unset."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    host: Names = ("127.0.0.1",)
    port: int = Field(default=8000, ge=0, le=65535)
    bind_address: str = ""
    frontend_port: int = Field(default=0, ge=0, le=65535)
    data_dir: Path = Path(".data")
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

    trusted_proxies: Names = ()
    max_upload_bytes: int = Field(default=10 * 1024 * 1024, ge=1)

    use_background_jobs: bool = False
    metrics_token: SecretStr = SecretStr("")

    @field_validator("user_content_origin", "public_url")
    @classmethod
    def _origin(cls, value: str) -> str:
        parts = urlsplit(value.strip().rstrip("/").lower())
        if value.strip() and (parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query):
            raise ValueError("is an origin, such as https://files.example.org")
        return parts.geturl()

    @property
    def link_origin(self) -> str:
        """The beginning of links that are made outside of a request: as set, or else the address of the page, on this
        machine if it listens on any address. Empty if the port is unknown."""
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
    """All values that must never be shown: the secrets among the settings, including those of modules, and passwords in
    addresses."""
    values = [getattr(one, name) for one in (settings, *of_modules) for name in type(one).model_fields]
    found = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    passwords = [urlsplit(address).password or "" for address in (settings.mongo_uri, settings.redis_address)]
    known = (*found, *passwords, *map(unquote, passwords))
    return [secret for secret in known if secret]


def named_hosts(settings: Settings) -> tuple[str, ...]:
    """The host names in this server's configured addresses: its own, and that of links to users' files."""
    found = (urlsplit(address).hostname for address in (settings.public_url, settings.user_content_origin))
    return tuple(name for name in found if name)


def read_settings(kind: type[S]) -> S:
    """The settings of the gateway or a module, from the environment. Raises `SettingsError` that says what is wrong."""
    try:
        return kind()
    except ValidationError as error:
        named = "; ".join(f"{str(entry['loc'][0]).upper()}: {entry['msg']}" for entry in error.errors())
        raise SettingsError(f"Not valid: {named}") from error


def load_settings() -> Settings:
    """The settings of the gateway. Raises `SettingsError` that says what is wrong."""
    return read_settings(Settings)


def resolve_hosts(settings: Settings) -> list[str]:
    """The addresses to listen on, with names resolved. Raises `SettingsError`."""
    addresses: list[str] = []
    for host in settings.host:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except OSError as error:
            raise SettingsError(f"HOST: {host} can't be resolved") from error
        wanted = [str(entry[4][0]) for entry in found if entry[0] == socket.AF_INET] or [str(found[0][4][0])]
        # Replicas of one service share a name; our own address among its addresses is the one that can be bound.
        addresses.append(next((address for address in wanted if _is_local(address)), wanted[0]))
    return list(dict.fromkeys(addresses))


def _is_local(address: str) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
