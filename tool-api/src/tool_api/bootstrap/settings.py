"""Settings of the tool API, read once from the environment; a missing or bad one stops the start by name."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from contracts.sandboxes import UNCLAIMED

_STANDARD_STREAMS = 2


class SettingsError(Exception):
    """The start is refused; the message names each setting at fault."""


def _public_key_pem(encoded: str) -> str:
    """The PEM text of a P-256 public key that came base64-encoded on one line."""
    try:
        pem = base64.b64decode(encoded, validate=True)
        key = load_pem_public_key(pem)
    except (binascii.Error, ValueError, UnsupportedAlgorithm) as error:
        raise ValueError("must be the base64 of a PEM public key") from error
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        raise ValueError("must be a P-256 public key, as ES256 asks for")  # noqa: TRY004  # pydantic wants it
    return pem.decode("ascii")


def _endpoint(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme == "tcp" and parts.hostname and parts.port is not None and not parts.path:
        return address
    if parts.scheme == "fd" and parts.path.isdecimal() and int(parts.path) > _STANDARD_STREAMS:
        return address
    raise ValueError("must be tcp://<address>:<port> or fd:<number>")


def _absolute(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("must be an absolute path")
    return path


class Settings(BaseSettings):
    """Settings of the tool API from whoever starts the sandbox."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    sandbox_id: str = Field(min_length=1, max_length=128)
    sandbox_generation: int = Field(ge=UNCLAIMED)
    sandbox_public_key: Annotated[str, AfterValidator(_public_key_pem)]
    sandbox_door: Annotated[str, AfterValidator(_endpoint)] = "tcp://0.0.0.0:7000"
    sandbox_desktop: bool = True
    sandbox_kernel_python: Annotated[Path, AfterValidator(_absolute)] = Path("/opt/kernels/venv/bin/python")
    workspace: Annotated[Path, AfterValidator(_absolute)] = Path("/workspace")
    bash_timeout: int = Field(default=60, ge=1, le=600)
    allowed_commands: str = ""
    max_upload_bytes: int = Field(default=10 * 1024 * 1024, ge=1)
    sandbox_orphan_s: int = Field(default=0, ge=0)
    sandbox_disk_bytes: int = Field(default=0, ge=0)
    sandbox_max_files: int = Field(default=0, ge=0)
    sandbox_untraceable: bool = True

    @property
    def inherited_endpoint(self) -> int | None:
        """Descriptor of a listening socket this process was started with, or None when it makes its own."""
        parts = urlsplit(self.sandbox_door)
        return int(parts.path) if parts.scheme == "fd" else None

    @property
    def tcp_endpoint(self) -> tuple[str, int]:
        """Address and port the endpoint listens on."""
        parts = urlsplit(self.sandbox_door)
        return parts.hostname or "", parts.port or 0

    @property
    def allowed_command_names(self) -> frozenset[str]:
        """Names of the commands a shell may run; empty means all."""
        return frozenset(name.strip() for name in self.allowed_commands.split(",") if name.strip())


def load_settings() -> Settings:
    """Settings from the environment.

    Raises:
        SettingsError: a setting is missing, too short or malformed.
    """
    try:
        return Settings()  # pyright: ignore[reportCallIssue]  # the fields come from the environment
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc'])).upper()}: {fault['msg']}" for fault in error.errors()]
        raise SettingsError("; ".join(faults)) from error
