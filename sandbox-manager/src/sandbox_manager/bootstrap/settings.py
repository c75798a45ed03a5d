"""Settings, from the environment."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from sandbox_manager.bootstrap.tool_api import ToolApi, tool_api_beside
from sandbox_manager.domain.configuration import Configurations, Size, parse_images, parse_sizes
from service_kit.named_numbers import Number, read_numbers

_CONFIG = SettingsConfigDict(frozen=True, extra="ignore", populate_by_name=True, env_ignore_empty=True)
_SECRET_CHARACTERS = 32


_SNAPSHOTS = {
    "count": Number(default=10, most=10_000),
    "mb": Number(default=2048, least=1, most=10**9),
    "total-mb": Number(default=4096, least=1, most=10**9),
}
"""Of one conversation: how many, how much one holds, and what all take, packed."""


_TUNING = {
    "queue-s": Number(default=300, least=1, most=86_400),
    "start-s": Number(default=60, least=1, most=110),
    "orphan-s": Number(default=600, most=10**6),
    "sweep-ms": Number(default=15_000, least=50, most=600_000),
    "spare-mb": Number(default=320, most=10**6),
    "files": Number(default=500_000, most=10**9),
}
"""How long one waits for a place, a start may take, and a sandbox lives without a manager; how often is looked at what
runs and what should; what has to be free for one more, and how many files a workspace may hold. The gateway waits no
longer than 120 s for a start."""


def _reader(known: Mapping[str, Number]) -> Callable[[object], object]:
    return lambda given: read_numbers(given, known) if isinstance(given, str) else given


class SettingsError(Exception):
    """The start is refused; says which setting is wrong."""


class ServerSettings(BaseSettings):
    """Address of the server, and the tokens of its callers."""

    model_config = _CONFIG

    host: str = Field(default="127.0.0.1", validation_alias="MANAGER_HOST")
    port: int = Field(default=8081, ge=0, le=65535, validation_alias="MANAGER_PORT")
    token: SecretStr = Field(validation_alias="SANDBOX_MANAGER_TOKEN")
    metrics_token: SecretStr = Field(default=SecretStr(""), validation_alias="METRICS_TOKEN")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", validation_alias="LOG_LEVEL")

    @field_validator("token")
    @classmethod
    def _long_enough(cls, token: SecretStr) -> SecretStr:
        if len(token.get_secret_value()) < _SECRET_CHARACTERS:
            raise ValueError(f"must have at least {_SECRET_CHARACTERS} characters")
        return token


class RegistrySettings(BaseSettings):
    """The manager's own database."""

    model_config = _CONFIG

    uri: SecretStr = Field(validation_alias="MONGO_URI")
    name: str = Field(default="agent_sandboxes", validation_alias="MANAGER_MONGO_DB_NAME")


class LifecycleSettings(BaseSettings):
    """Limits on the number and life of sandboxes, and the intervals of upkeep."""

    model_config = _CONFIG

    runtime: Literal["docker", "process", "auto"] = Field(default="auto", validation_alias="SANDBOX_RUNTIME")
    stack: str = Field(default="agent", pattern=r"^[a-z0-9][a-z0-9_-]{0,30}$", validation_alias="COMPOSE_PROJECT_NAME")
    hard_hours: float = Field(default=24, gt=0, validation_alias="SANDBOX_TIMEOUT_HOURS")
    idle_minutes: float = Field(default=60, gt=0, validation_alias="SANDBOX_IDLE_TIMEOUT_MINUTES")
    pause_minutes: float = Field(default=120, ge=0, validation_alias="SANDBOX_PAUSE_LIMIT_MINUTES")
    max_per_user_total: int = Field(default=10, ge=1, validation_alias="SANDBOX_MAX_PER_USER_TOTAL")
    max_per_user: int = Field(default=5, ge=1, validation_alias="SANDBOX_MAX_PER_USER")
    max_total: int = Field(default=20, ge=1, validation_alias="SANDBOX_MAX_TOTAL")
    pool_size: int | None = Field(default=None, ge=0, le=50, validation_alias="SANDBOX_POOL_SIZE")
    remove_on_shutdown: bool = Field(default=False, validation_alias="SANDBOX_REMOVE_ON_SHUTDOWN")
    tuning: Annotated[dict[str, int], NoDecode, BeforeValidator(_reader(_TUNING))] = Field(
        default="", validate_default=True, validation_alias="SANDBOX_TUNING"
    )


class WorkspaceSettings(BaseSettings):
    """Limits of snapshots, and how long a session's files stay after its end."""

    model_config = _CONFIG

    snapshots: Annotated[dict[str, int], NoDecode, BeforeValidator(_reader(_SNAPSHOTS))] = Field(
        default="", validate_default=True, validation_alias="SNAPSHOT_LIMITS"
    )
    cleanup_delay_s: float = Field(default=0, ge=0, validation_alias="WORKSPACE_CLEANUP_DELAY")


class InsideSettings(BaseSettings):
    """Settings of every sandbox, in either runtime."""

    model_config = _CONFIG

    desktop: bool = Field(default=True, validation_alias="SANDBOX_DESKTOP")
    bash_timeout: int = Field(default=60, ge=1, validation_alias="BASH_TIMEOUT")
    allowed_commands: str = Field(default="", validation_alias="ALLOWED_COMMANDS")
    blocked_subnets: str = Field(
        default="10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10", validation_alias="SANDBOX_BLOCKED_SUBNETS"
    )
    max_upload_bytes: int = Field(default=10_485_760, ge=1, validation_alias="MAX_UPLOAD_BYTES")
    memory_mb: int = Field(default=2048, ge=64, validation_alias="SANDBOX_MEMORY_MB")
    cpus: float = Field(default=2.0, gt=0, validation_alias="SANDBOX_CPUS")
    sizes: str = Field(default="", validation_alias="SANDBOX_SIZES")
    pids: int = Field(default=512, ge=16, validation_alias="SANDBOX_PIDS")
    disk_mb: int = Field(default=10_240, ge=0, validation_alias="SANDBOX_DISK_LIMIT_MB")

    @model_validator(mode="after")
    def _sizes(self) -> Self:
        try:
            parse_sizes(self.sizes, disk_mb=self.disk_mb)
        except ValueError as error:
            raise ValueError(f"SANDBOX_SIZES: {error}") from error
        return self

    @field_validator("blocked_subnets")
    @classmethod
    def _networks(cls, given: str) -> str:
        networks = [ipaddress.ip_network(one.strip(), strict=False) for one in given.split(",") if one.strip()]
        return ",".join(str(one) for one in networks)


class DockerSettings(BaseSettings):
    """The Docker runtime. `DOCKER_HOST` is read by the SDK itself."""

    model_config = _CONFIG

    image: str = Field(default="agent-sandbox:latest", validation_alias="SANDBOX_IMAGE")
    images: str = Field(default="", validation_alias="SANDBOX_IMAGES")
    seccomp_profile: str = Field(default="sandbox-image/seccomp.json", validation_alias="SANDBOX_SECCOMP_PROFILE")
    subnet_pool: str = Field(default="10.201.0.0/16", validation_alias="SANDBOX_SUBNET_POOL")

    @field_validator("images")
    @classmethod
    def _images(cls, given: str) -> str:
        parse_images(given)
        return given


class ProcessSettings(BaseSettings):
    """The process runtime."""

    model_config = _CONFIG

    data_dir: Path = Field(default=Path(".data"), validation_alias="DATA_DIR")
    unsafe: bool = Field(default=False, validation_alias="SANDBOX_PROCESS_UNSAFE")


class Settings:
    """The settings, read once; with the place of the tool API of process sandboxes if that is not beside the manager's
    code. Raises `SettingsError` naming the setting that is wrong or missing."""

    def __init__(self, tool_api: ToolApi | None = None) -> None:
        self.tool_api = tool_api or tool_api_beside(Path(__file__))
        try:
            self.server = ServerSettings()  # pyright: ignore[reportCallIssue] - the environment gives the fields
            self.registry = RegistrySettings()  # pyright: ignore[reportCallIssue] - the environment gives the fields
            self.lifecycle = LifecycleSettings()
            self.workspaces = WorkspaceSettings()
            self.inside = InsideSettings()
            self.docker = DockerSettings()
            self.process = ProcessSettings()
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()
            )
            raise SettingsError(f"The sandbox manager can't start. {problems}") from error
        self.configurations = self._configurations()
        self._check_sizes()

    def _configurations(self) -> Configurations:
        inside = self.inside
        return Configurations(
            standard=Size(cpus=inside.cpus, memory_mb=inside.memory_mb, disk_mb=inside.disk_mb),
            image=self.docker.image,
            images=parse_images(self.docker.images),
            sizes=parse_sizes(inside.sizes, disk_mb=inside.disk_mb),
        )

    def _check_sizes(self) -> None:
        keeping = self.lifecycle
        limits = {
            "SANDBOX_MAX_PER_USER": keeping.max_per_user,
            "SANDBOX_MAX_PER_USER_TOTAL": keeping.max_per_user_total,
            "SANDBOX_MAX_TOTAL": keeping.max_total,
        }
        for name, size in self.configurations.sizes.items():
            places = self.configurations.places(size)
            for setting, most in limits.items():
                if places > most:
                    raise SettingsError(
                        f"The sandbox manager can't start. SANDBOX_SIZES: by its memory '{name}' counts as {places} "
                        f"sandboxes of the default size, and {setting} allows {most}: it could never start."
                    )
