"""The agent follows the instructions of the conversation's folder, and knows of its files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from backend_api.agent.capability import Capability, Setup
from backend_api.folders.domain import PLACE, FolderOfSession
from backend_api.kit.ids import SessionId, UserId

NAME = "folder"

_TEXT = """\
The person keeps this conversation in the folder “{name}”, and wrote for all conversations in it:

{instructions}"""

_FILES = """\
Files that the person keeps for all conversations in the folder “{name}” are in `{place}/` of the workspace: {files}"""
MAX_NAMED = 20


def _sections(setup: Setup) -> Sequence[str]:
    found = cast("FolderOfSession | None", setup.loaded.get(NAME))
    if found is None:
        return ()
    folder, names = found.folder, found.file_names
    sections = list[str]()
    if folder.instructions:
        sections.append(_TEXT.format(name=folder.name, instructions=folder.instructions))
    if names and any(tool.needs_sandbox for tool in setup.tools):
        listed = ", ".join(f"`{name}`" for name in names[:MAX_NAMED])
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        sections.append(_FILES.format(name=folder.name, place=PLACE, files=f"{listed}{more}."))
    return sections


def folder_capability(load: Callable[[UserId, SessionId], Awaitable[FolderOfSession | None]]) -> Capability:
    """`load` reads the folder of a session."""
    return Capability(name=NAME, load_of_session=load, sections=_sections)
