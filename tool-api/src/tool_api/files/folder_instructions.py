"""Instructions for work in a folder, from its `AGENTS.md` (the convention of https://agents.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePosixPath

from contracts.tools import MAX_INSTRUCTION_CHARACTERS, MAX_INSTRUCTIONS, FolderInstructions, ToolResult
from tool_api.errors import PathForbiddenError
from tool_api.text_encoding import encoding_of, shown_text
from tool_api.workspace import Workspace

NAME = "AGENTS.md"
_CUT = "\n[It is longer; read the file for the rest.]"
_DEEPEST = 32
"""Folders on the way to a path that are looked into."""
_MAX_BYTES = MAX_INSTRUCTION_CHARACTERS * 4


def instructions_for(workspace: Workspace, result: ToolResult) -> list[FolderInstructions]:
    """The instructions for what a call worked on: of each folder from the workspace to there, the nearest ones if there
    are more than the limit. Blocking, for a thread; a file that can't be read, or is no text, is passed over."""
    folders = dict.fromkeys(folder for path in _touched_paths(result) for folder in _folders(workspace, path))
    found = [one for folder in sorted(folders, key=_depth) if (one := _read(workspace, folder)) is not None]
    return found[-MAX_INSTRUCTIONS:]


def _touched_paths(result: ToolResult) -> Iterable[str]:
    display = result.display
    shown = (getattr(display, name, None) for name in ("path", "cwd"))
    return [*(path for path in shown if isinstance(path, str)), *result.changed_paths]


def _folders(workspace: Workspace, path: str) -> list[str]:
    """The workspace and the folders below it on the way to a path, itself among them as it may be one."""
    root = os.path.normpath(workspace.root)
    relative = os.path.relpath(os.path.normpath(os.path.join(root, path)), root)
    parts = PurePosixPath(relative).parts
    if ".." in parts:
        return []
    return ["/".join(parts[:end]) for end in range(min(len(parts), _DEEPEST) + 1)]


def _depth(folder: str) -> int:
    return folder.count("/") + bool(folder)


def _read(workspace: Workspace, folder: str) -> FolderInstructions | None:
    path = f"{folder}/{NAME}" if folder else NAME
    try:
        with workspace.locate(path) as place, os.fdopen(place.open(), "rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except (OSError, UnicodeError, PathForbiddenError):
        return None
    encoding = encoding_of(content)
    text = shown_text(encoding.decode(content)).strip() if encoding is not None else ""
    if not text or "\0" in text:
        return None
    if len(text) > MAX_INSTRUCTION_CHARACTERS or len(content) > _MAX_BYTES:
        text = text[: MAX_INSTRUCTION_CHARACTERS - len(_CUT)] + _CUT
    return FolderInstructions(path=path, text=text)
