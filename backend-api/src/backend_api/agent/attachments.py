"""Pictures that are attached to a message: which of its files they are, and the text the model reads with each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from backend_api.agent.events import AttachmentRead, MessageUser, Notice
from backend_api.agent.pictures import PICTURE_TYPES
from backend_api.agent.shortening import shorten
from backend_api.agent.tool import Done

MOST_ATTACHED = 8
"""The most pictures of one message that are shown at once; others the model opens itself."""
PICTURE_ENDINGS = frozenset(
    {".png", ".jpg", ".jpeg", ".jfif", ".gif", ".webp", ".heic", ".heif", ".avif", ".tif", ".tiff", ".bmp", ".svg"}
)
READ_TOOL = "file_read"
MAX_TEXT_CHARACTERS = 1_000

SHOWN = "The user attached this picture: {path}. {said}"
NOT_SHOWN = "The user attached the picture {path}, which can't be shown. {said}"
NOT_SHOWN_TO_MODEL = "The picture {path} could not be shown to the model: {reason}"
"""The text of the notice to the person."""
NO_PICTURE = "Its content is not that of a picture in a known format."
DENIED = "Reading files is not allowed without asking."
TOO_MANY = "The user attached more than {most} pictures. These are not shown; look at one with {tool}:\n{names}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """Paths of the pictures of one message; `recorded` are those that the model has been shown already."""

    message_id: str
    paths: tuple[str, ...]
    recorded: tuple[str, ...] = ()

    def without(self, paths: Sequence[str]) -> Attached | None:
        """The same pictures with these recorded as well; None if all are recorded."""
        changed = replace(self, recorded=(*self.recorded, *paths))
        return changed if changed.left else None

    @property
    def left(self) -> tuple[str, ...]:
        """Paths that are not recorded yet."""
        return tuple(path for path in self.paths if path not in self.recorded)

    @property
    def first(self) -> tuple[str, ...]:
        """Paths that are still to be shown: only the first `MOST_ATTACHED` of the message count, also after a
        take-over."""
        shown = self.paths[:MOST_ATTACHED]
        return tuple(path for path in self.left if path in shown)

    def too_many(self) -> AttachmentRead | None:
        """The event that lists the pictures beyond the first ones; None if there are none."""
        shown = self.paths[:MOST_ATTACHED]
        further = [path for path in self.left if path not in shown]
        names = "\n".join(f"- {_name(path)}" for path in further)
        text = TOO_MANY.format(most=MOST_ATTACHED, tool=READ_TOOL, names=names)
        return AttachmentRead(message_id=self.message_id, paths=further, text=text) if further else None


def attached_to(message: MessageUser) -> Attached | None:
    """The message's pictures, each once, and files without an ending, which may be pictures; None if there are none."""
    paths = tuple(path for path in dict.fromkeys(message.attachments) if _may_be_picture(path))
    return Attached(message_id=message.message_id, paths=paths) if paths else None


def is_picture(done: Done) -> bool:
    """Whether the result of a tool is a picture that can be sent to models."""
    return done.success and done.body is not None and done.body_media_type in PICTURE_TYPES


def text_of(path: str, done: Done) -> str:
    """The text for the model, with the picture or in place of it. Empty for a file without an ending that is no
    picture: the message names it already."""
    if is_picture(done):
        return SHOWN.format(path=_name(path), said=shorten(done.output, MAX_TEXT_CHARACTERS))
    if not _ending(path):
        return ""
    return NOT_SHOWN.format(path=_name(path), said=_why_not(done))


def notice_of(path: str, done: Done) -> Notice:
    """The notice to the person about a picture that can't be shown."""
    params: dict[str, str | int] = {"path": _name(path), "reason": _why_not(done)}
    return Notice(text=NOT_SHOWN_TO_MODEL.format(**params), code="picture_not_shown", params=params)


def _why_not(done: Done) -> str:
    return NO_PICTURE if done.success else shorten(done.output, MAX_TEXT_CHARACTERS)


def _may_be_picture(path: str) -> bool:
    return _ending(path) in PICTURE_ENDINGS or not _ending(path)


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _name(path: str) -> str:
    return path if path.isprintable() else json.dumps(path)
