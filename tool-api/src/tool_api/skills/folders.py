"""Folders of skills as the gateway sends them: each whole or not at all, and protected from accidental writes.

The agent's programs have the same user as this one, so that read-only is a hint, not a guard: the gateway has the
original of a skill, and puts it here again in the next sandbox.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import secrets
import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath

from service_kit.amounts import size_text
from tool_api.errors import ConflictError, InvalidUploadError, TooLargeError

SKILLS = Path("/skills")
MAX_FILES = 100
MAX_BYTES = 8 * 1024 * 1024
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", re.ASCII)
_PIECE = 64 * 1024


def put_skill(root: Path, name: str, archive: bytes) -> str:
    """Replace the folder of this name by the content of a zip archive; returns its path.

    Raises:
        InvalidUploadError: it is no such archive, or names what is not inside of it.
        TooLargeError: it holds more than a skill may.
        ConflictError: there is no folder for skills here, or no room in it.
    """
    if not NAME.fullmatch(name):
        raise InvalidUploadError("A skill's name has small letters, digits and single hyphens.")
    if not root.is_dir():
        raise ConflictError("This sandbox has no folder for skills.")
    fresh, place = root / f".{secrets.token_hex(8)}", root / name
    try:
        fresh.mkdir()
        _unpack(archive, fresh)
        _close(fresh)
        _remove(place)
        fresh.rename(place)
    except zipfile.BadZipFile as error:
        raise InvalidUploadError("The body is not a zip archive.") from error
    except OSError as error:
        raise ConflictError(f"The skill could not be written: {error.strerror}") from error
    finally:
        _remove(fresh)
    return str(place)


def _unpack(archive: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        entries = packed.infolist()
        if len(entries) > MAX_FILES:
            raise TooLargeError(f"A skill may have at most {MAX_FILES} files.")
        left = MAX_BYTES
        for entry in entries:
            path = PurePosixPath(entry.filename)
            if path.is_absolute() or {"..", ""} & {*path.parts} or entry.is_dir() or "\0" in entry.filename:
                raise InvalidUploadError(f"The archive names {entry.filename}, which is not a file inside it.")
            target = folder.joinpath(*path.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(entry) as source, target.open("xb") as file:
                while piece := source.read(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        raise TooLargeError(f"A skill may have at most {size_text(MAX_BYTES)}.", limit_bytes=MAX_BYTES)
                    file.write(piece)


def _close(folder: Path) -> None:
    """Make the folder read-only, executable where the first line marks a program."""
    for where, _, names in os.walk(folder, topdown=False):
        for name in names:
            file = Path(where, name)
            with file.open("rb") as opened:
                is_program = opened.read(2) == b"#!"
            file.chmod(0o555 if is_program else 0o444)
        Path(where).chmod(0o555)


def _remove(folder: Path) -> None:
    """Remove the path, whatever it is; a link is removed, not its target."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISDIR(folder.lstat().st_mode):
            folder.unlink()
            return
        for where, names, _ in os.walk(folder):
            Path(where).chmod(0o755)
            for name in names:
                if not (inner := Path(where, name)).is_symlink():
                    inner.chmod(0o755)
        shutil.rmtree(folder)
