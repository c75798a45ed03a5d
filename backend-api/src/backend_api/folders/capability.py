"""The agent follows the instructions of the conversation's folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from backend_api.agent.capability import Capability, Setup
from backend_api.folders.domain import Folder
from backend_api.kit.ids import SessionId, UserId

NAME = "folder"

_TEXT = """\
The person keeps this conversation in the folder “{name}”, and wrote for all conversations in it:

{instructions}"""


def _sections(setup: Setup) -> Sequence[str]:
    folder = cast("Folder | None", setup.loaded.get(NAME))
    if folder is None or not folder.instructions:
        return ()
    return [_TEXT.format(name=folder.name, instructions=folder.instructions)]


def folder_capability(load: Callable[[UserId, SessionId], Awaitable[Folder | None]]) -> Capability:
    """`load` reads the folder of a session."""
    return Capability(name=NAME, load_of_session=load, sections=_sections)
