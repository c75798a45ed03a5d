"""Names of files as others give them, made safe for a folder."""

from __future__ import annotations

import re

from tool_api.errors import InvalidUploadError

_MAX_NAME_BYTES = 255
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]")


def safe_name(given: str) -> str:
    """The last part of a file name as a browser gave it.

    Raises:
        InvalidUploadError: nothing usable is left of it.
    """
    name = _UNSAFE.sub("", given.replace("\\", "/").rsplit("/", 1)[-1]).strip()
    stem = name.rpartition(".")[0]
    suffix = name[len(stem) :]
    # The suffix is kept as long as there is room for it.
    room = _MAX_NAME_BYTES - len(suffix.encode())
    name = _cut(stem, room) + suffix if room >= 0 else _cut(suffix, _MAX_NAME_BYTES)
    if name in ("", ".", ".."):
        raise InvalidUploadError("An uploaded file needs a name.")
    return name


def numbered(name: str, number: int) -> str:
    """The name with a number before its ending, and still no longer than a name may be: `chart (2).png`."""
    stem, suffix = _parts(name)
    mark = f" ({number})"
    room = _MAX_NAME_BYTES - len(f"{mark}{suffix}".encode())
    if room < 1:
        return _cut(name, _MAX_NAME_BYTES - len(mark)) + mark
    return _cut(stem, room) + mark + suffix


def _parts(name: str) -> tuple[str, str]:
    """The stem of a name and its suffix: a leading dot starts no suffix, and an archive has a double one."""
    stem, dot, last = name.rpartition(".")
    if not stem:
        return name, ""
    suffix = dot + last
    if stem[-4:].lower() == ".tar" and len(stem) > len(".tar"):
        return stem[:-4], stem[-4:] + suffix
    return stem, suffix


def _cut(text: str, size: int) -> str:
    """The beginning of a text, at most `size` bytes of UTF-8."""
    return text.encode()[:size].decode("utf-8", "ignore")
