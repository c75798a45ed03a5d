"""The folder with everything a stack keeps: one stack at a time, readable by its owner alone."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import cast

from local_stack.errors import StackError


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSecrets:
    jwt_secret_key: str
    secrets_key: str
    manager_token: str
    redis_password: str
    mongo_password: str


@contextmanager
def locked_data_folder(folder: Path) -> Generator[Path]:
    """Hold the folder until the end. The lock dies with its process, so a crash leaves nothing to clean."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("logs", "mongo", "redis"):
            (folder / name).mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(folder / "stack.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StackError(f"DATA_DIR {folder} can't be used: {error.strerror}.") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "unknown"
            raise StackError(
                f"Another stack (process {owner}) already uses DATA_DIR {folder}. "
                f"Stop it, or start this one with its own: DATA_DIR=.data-2 PORT=8001 ./run.sh local"
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield folder
    finally:
        os.close(descriptor)


def load_secrets(folder: Path) -> StackSecrets:
    """Secrets of this folder, made at the first start and kept."""
    path = folder / "secrets.json"
    kept = _read(path) if path.is_file() else {}
    # One that a later version asks for is made for a folder of an earlier one too.
    made = StackSecrets(**{one.name: kept.get(one.name) or secrets.token_hex(32) for one in fields(StackSecrets)})
    if asdict(made) != kept:
        draft = path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(made), file)
        draft.replace(path)
    return made


def _read(path: Path) -> dict[str, str]:
    damaged = StackError(
        f"{path} is damaged. Restore it from a backup. Without it users must log in again, and set their keys again: "
        "remove it then, and start again."
    )
    try:
        kept: object = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise damaged from error
    if not isinstance(kept, dict):
        raise damaged
    found = cast("dict[object, object]", kept)
    return {str(name): value for name, value in found.items() if isinstance(value, str)}
