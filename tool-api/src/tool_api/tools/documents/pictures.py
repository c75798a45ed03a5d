"""The pictures of a text, taken from the workspace: the printing browser opens no file and no connection."""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import unquote

from tool_api.errors import PathForbiddenError
from tool_api.workspace import Workspace

MAX_PICTURES = 200
MAX_BYTES = 10 * 1024 * 1024
MAX_TOTAL_BYTES = 30 * 1024 * 1024
_INLINE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*", re.IGNORECASE)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:|//)")
_WORKSPACE = re.compile(
    r"(sandbox|file|attachments?|computer|workspace):(?://localhost(?=/))?/*(.*)", re.IGNORECASE | re.DOTALL
)
"""Schemes that models write before a path of the workspace, as other products name files that way."""
_SVG = re.compile(rb"^\s*(<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*+-->\s*+)*+(<!DOCTYPE[^>\[]*>\s*)?<svg[\s>]", re.DOTALL)


class PictureError(Exception):
    """The picture is not in the document; the message says why."""


@dataclass(slots=True)
class Pictures:
    """Reads pictures relative to the folder of the text, or to the workspace; `left_out` lists those it can't."""

    workspace: Workspace
    folder: str
    left_out: list[str] = field(default_factory=list[str])
    _total: int = 0

    def embedded(self, written: list[str]) -> list[str]:
        """Their addresses as the page has them, empty for one that is left out; blocking, for a thread."""
        return [self._embed(number, address) for number, address in enumerate(written)]

    def _embed(self, number: int, written: str) -> str:
        try:
            if number >= MAX_PICTURES:
                raise PictureError(f"there are more than {MAX_PICTURES} pictures")
            if written.lower().startswith("data:"):
                return self._inline(written)
            address = _within_workspace(written)
            if _SCHEME.match(address):
                raise PictureError("only pictures of the workspace are printed, by their paths")
            data = self._read(address)
            self._count(len(data))
            return f"data:{media_type_of(data)};base64,{base64.b64encode(data).decode()}"
        except PictureError as error:
            self.left_out.append(f"{written[:200]}: {error}")
            return ""

    def _inline(self, written: str) -> str:
        if not _INLINE.fullmatch(written):
            raise PictureError("it is not a picture")
        self._count(len(written))
        return written

    def _count(self, size: int) -> None:
        if size > MAX_BYTES:
            raise PictureError(f"it is over {MAX_BYTES // 1024**2} MB")
        if self._total + size > MAX_TOTAL_BYTES:
            raise PictureError(f"the pictures are over {MAX_TOTAL_BYTES // 1024**2} MB together")
        self._total += size

    def _read(self, written: str) -> bytes:
        path = unquote(written.partition("#")[0].partition("?")[0])
        if not path:
            raise PictureError("it names no file")
        fault = PictureError("there is no such file")
        inside = path.lstrip("/").removeprefix("workspace/")
        is_rooted = path.startswith("/workspace/")
        places = (inside,) if is_rooted else (str(PurePosixPath(self.folder, path)), path, inside)
        for place in dict.fromkeys(places):
            try:
                with self.workspace.locate(place) as located, os.fdopen(located.open(), "rb") as file:
                    return file.read(MAX_BYTES + 1)
            except PathForbiddenError:
                fault = PictureError("it is outside of the workspace")
            except FileNotFoundError:
                continue
            except OSError as error:
                fault = PictureError(error.strerror or "it can't be read")
        raise fault


def _within_workspace(written: str) -> str:
    """The path from the workspace's root, if its scheme means the workspace; else the text unchanged."""
    found = _WORKSPACE.fullmatch(written.strip())
    if found is None:
        return written
    scheme, path = found.groups()
    # A file elsewhere on the machine is not in the workspace.
    if scheme.lower() == "file" and not path.startswith("workspace/"):
        return written
    return f"/workspace/{path.removeprefix('workspace/').removeprefix('mnt/data/')}"


def media_type_of(data: bytes) -> str:
    """The media type of a picture by its first bytes. Raises `PictureError` if browsers don't show it."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if _SVG.match(data[:4096]):
        return "image/svg+xml"
    raise PictureError("it is not a PNG, JPEG, GIF, WebP or SVG")
