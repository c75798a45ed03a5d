"""Settings of the stack itself; everything else in the environment is handed on to the services."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local_stack.errors import StackError
from service_kit.loopback import is_loopback

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSettings:
    root: Path
    host: str
    port: int
    data_dir: Path
    auth_mode: str
    mongo_uri: str | None
    redis_url: str | None
    reload: bool
    has_worker: bool
    environ: Mapping[str, str]


def load_settings() -> StackSettings:
    """Read the environment, then `.env` beside the scripts for what the environment leaves open."""
    environ = read_env_file(ROOT / ".env") | dict(os.environ)
    environ.pop("PYTHONPATH", None)
    host = environ.get("HOST") or "127.0.0.1"
    auth_mode = environ.get("AUTH_MODE") or "local"
    if auth_mode not in ("local", "password"):
        raise StackError(f"AUTH_MODE must be local or password, not {auth_mode!r}.")
    if auth_mode == "local" and not is_loopback(host):
        raise StackError(
            f"AUTH_MODE=local has no login, so HOST must be a loopback address, not {host}. "
            f"Use AUTH_MODE=password HOST={host} ./run.sh local"
        )
    data_dir = Path(environ.get("DATA_DIR") or ".data").expanduser()
    return StackSettings(
        root=ROOT,
        host=host,
        port=_port(environ.get("PORT") or "8000"),
        data_dir=data_dir if data_dir.is_absolute() else ROOT / data_dir,
        auth_mode=auth_mode,
        mongo_uri=environ.get("MONGO_URI") or None,
        redis_url=environ.get("REDIS_URL") or _redis_url(environ),
        reload=environ.get("STACK_RELOAD") == "true",
        has_worker=(environ.get("USE_BACKGROUND_JOBS") or "").lower() in ("1", "true", "yes", "on"),
        environ=environ,
    )


def read_env_file(path: Path) -> dict[str, str]:
    """The settings of an env file: `NAME=value` lines, quotes around a value dropped, `#` lines skipped.

    Raises `StackError` for a file that can't be read, such as another user's.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise StackError(
            f"{path} can't be read: {reason}. Make yourself its owner, or use a checkout of your own."
        ) from error
    found: dict[str, str] = {}
    for raw in text.splitlines():
        line = raw.strip()
        name, separator, value = line.partition("=")
        if line.startswith("#") or not separator or not name.strip().isidentifier():
            continue
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        if value:
            found[name.strip()] = value
    return found


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise StackError(f"PORT must be a number from 0 to 65535, not {text!r}.")
    return int(text)


def _redis_url(environ: Mapping[str, str]) -> str | None:
    host = environ.get("REDIS_HOST")
    return f"redis://{host}:{environ.get('REDIS_PORT') or '6379'}/0" if host else None
