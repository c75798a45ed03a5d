"""Files that a person edits, renames, moves and deletes. Blocking: call it in a thread."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from pathlib import PurePosixPath

from contracts.files import MAX_TEXT_BYTES, SavedText, TextFile
from service_kit.amounts import size_text
from tool_api.errors import ConflictError, PathForbiddenError, PreconditionError, TooLargeError
from tool_api.files.listing import HIDDEN, language_of
from tool_api.text_encoding import TextEncoding, encoding_of
from tool_api.tools.files import folders
from tool_api.workspace import Located, Workspace

_DELETE_S = 20.0


def etag_of(data: bytes) -> str:
    """A tag that identifies a version of a file's content."""
    return hashlib.sha256(data).hexdigest()[:32]


def read_text(workspace: Workspace, path: str) -> TextFile:
    """A whole file as text, or the reason why it can't be edited."""
    with workspace.locate(path) as place:
        fd = place.open()
        shown = place.path
    with os.fdopen(fd, "rb") as file:
        size = os.fstat(fd).st_size
        data = file.read(MAX_TEXT_BYTES + 1)
    name = PurePosixPath(shown).name
    found = TextFile(path=shown, name=name, size=size, language=language_of(name))
    if len(data) > MAX_TEXT_BYTES:
        return found.model_copy(update={"reason": "too_large"})
    encoding = encoding_of(data)
    if encoding is None:
        return found.model_copy(update={"reason": "binary"})
    text = _text_of(data, encoding)
    if text is None:
        return found.model_copy(update={"reason": "encoding", "encoding": encoding.name})
    return found.model_copy(update={"content": text, "etag": etag_of(data), "encoding": encoding.name})


def save_text(workspace: Workspace, path: str, content: str, if_match: str | None) -> SavedText:
    """Replace a file's text in its own encoding. Raises `PreconditionError`, and writes nothing, if the file has
    another tag than `if_match`."""
    with workspace.locate(path, make_folders=if_match is None) as place:
        _check_place(place)
        present = _present(place)
        if (None if present is None else etag_of(present)) != if_match:
            raise PreconditionError(
                f"{place.path} is there already."
                if if_match is None
                else f"{place.path} was changed or deleted since it was read. Nothing was saved."
            )
        encoding = encoding_of(present) if present else None
        try:
            data = content.encode() if encoding is None else encoding.mark + encoding.encode(content)
        except UnicodeEncodeError as error:
            raise ConflictError(
                f"{place.path} is in {encoding.name if encoding else 'UTF-8'}, "
                "which lacks some characters of the new text."
            ) from error
        if len(data) > MAX_TEXT_BYTES:
            raise TooLargeError(f"A file that is edited may have at most {size_text(MAX_TEXT_BYTES)}.")
        place.write(data)
        return SavedText(path=place.path, size=len(data), etag=etag_of(data))


def move(workspace: Workspace, source: str, destination: str) -> tuple[str, str]:
    """Give a file or folder another path, whose folders are made; returns both paths. Nothing is replaced."""
    with (
        workspace.locate(source, follow=False) as place,
        workspace.locate(destination, follow=False, make_folders=True) as target,
    ):
        _check_place(place)
        _check_place(target)
        place.stat()
        _check_free(target)
        try:
            os.rename(place.name, target.name, src_dir_fd=place.folder, dst_dir_fd=target.folder)
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise ConflictError(f"{place.path} can't be moved into itself.") from error
            raise
        return place.path, target.path


def make_folder(workspace: Workspace, path: str) -> str:
    """Make a folder, with those above it; returns its path."""
    with workspace.locate(path, follow=False, make_folders=True) as place:
        _check_place(place)
        _check_free(place)
        os.mkdir(place.name, dir_fd=place.folder)
        return place.path


def delete(workspace: Workspace, path: str) -> str:
    """Delete a file, a link, or a folder with all that is in it; returns its path."""
    with workspace.locate(path, follow=False) as place:
        _check_place(place)
        try:
            folders.delete(place, recursive=True, until=time.monotonic() + _DELETE_S)
        except TimeoutError as error:
            raise ConflictError(f"Not all of {place.path} could be deleted in time. Delete it again.") from error
        return place.path


def _check_place(place: Located) -> None:
    if place.is_root:
        raise PathForbiddenError("The workspace itself can't be changed.")
    if place.path.split("/")[0] in HIDDEN:
        raise PathForbiddenError(f"{place.path} belongs to the agent's own records.")


def _check_free(place: Located) -> None:
    try:
        place.stat()
    except FileNotFoundError:
        return
    raise ConflictError(f"{place.path} is there already.")


def _present(place: Located) -> bytes | None:
    try:
        fd = place.open()
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read(MAX_TEXT_BYTES + 1)


def _text_of(data: bytes, encoding: TextEncoding) -> str | None:
    """The text of a file; None if writing it back would change bytes other than the edited ones."""
    try:
        text = encoding.decode(data)
        # Not all that stands in a file can be sent.
        text.encode()
        return text if encoding.mark + encoding.encode(text) == data else None
    except UnicodeError:
        return None
