"""Lists folders and previews files for the files panel. Blocking: call it in a thread."""

from __future__ import annotations

import codecs
import os
import stat
from datetime import UTC, datetime
from pathlib import PurePosixPath

from contracts.tools import FileContent, FileEntry
from tool_api.errors import NotFoundError, PathForbiddenError
from tool_api.shown_names import shown_names
from tool_api.text_encoding import TextEncoding, encoding_of_file, shown_text
from tool_api.workspace import Workspace

HIDDEN = frozenset({".agent", ".transcripts", ".tasks", ".team"})
MAX_PREVIEW_BYTES = 100 * 1024
MAX_LISTED = 5000
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()

LANGUAGES = {
    ".bash": "bash", ".c": "c", ".cc": "cpp", ".conf": "ini", ".cpp": "cpp", ".cs": "csharp", ".css": "css",
    ".csv": "csv", ".diff": "diff", ".go": "go", ".h": "c", ".hpp": "cpp", ".htm": "html", ".html": "html",
    ".ini": "ini", ".java": "java", ".js": "javascript", ".json": "json", ".jsonl": "json", ".jsx": "jsx",
    ".kt": "kotlin", ".lua": "lua", ".md": "markdown", ".mjs": "javascript", ".patch": "diff", ".php": "php",
    ".pl": "perl", ".py": "python", ".r": "r", ".rb": "ruby", ".rs": "rust", ".scss": "scss", ".sh": "bash",
    ".sql": "sql", ".svg": "xml", ".swift": "swift", ".tex": "latex", ".toml": "toml", ".ts": "typescript",
    ".tsx": "tsx", ".txt": "text", ".vue": "vue", ".xml": "xml", ".yaml": "yaml", ".yml": "yaml",
}  # fmt: skip
_NAMES = {"Dockerfile": "dockerfile", "Makefile": "makefile"}


def language_of(name: str) -> str | None:
    """The language of a file by its name, None when unknown."""
    return _NAMES.get(name) or LANGUAGES.get(PurePosixPath(name).suffix.lower())


def changed_at(state: os.stat_result) -> datetime:
    """The modification time, clamped to the range of dates: a file may bear any time its owner gives it."""
    return datetime.fromtimestamp(min(max(state.st_mtime, _EARLIEST), _LATEST), UTC)


def list_entries(workspace: Workspace, path: str) -> list[FileEntry]:
    """The entries of a folder, folders first; links that lead out of the workspace, or nowhere, are left out."""
    with workspace.locate(path) as place:
        fd = place.open_folder()
        prefix = "" if place.path == "." else f"{place.path}/"
    try:
        with os.scandir(fd) as entries:
            names = sorted(entry.name for entry in entries if entry.name not in HIDDEN)[:MAX_LISTED]
        shown = zip(names, shown_names(names), strict=True)
        found = [_entry(workspace, fd, prefix, name, text) for name, text in shown]
    finally:
        os.close(fd)
    return sorted((entry for entry in found if entry is not None), key=lambda entry: (not entry.is_dir, entry.name))


def _entry(workspace: Workspace, folder: int, prefix: str, name: str, shown: str) -> FileEntry | None:
    try:
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(state.st_mode):
            with workspace.locate(prefix + shown) as target:
                state = target.stat()
    except (OSError, PathForbiddenError):
        return None
    is_folder = stat.S_ISDIR(state.st_mode)
    return FileEntry(
        path=prefix + shown,
        name=shown,
        size=0 if is_folder else state.st_size,
        modified_at=changed_at(state),
        is_dir=is_folder,
    )


def preview(workspace: Workspace, path: str) -> FileContent:
    """The beginning of a text file, in whatever encoding it is; a binary file has no content."""
    with workspace.locate(path) as place:
        try:
            fd = place.open()
        except IsADirectoryError as error:
            raise NotFoundError(f"{place.path} is a folder.") from error
        shown = place.path
    with os.fdopen(fd, "rb") as file:
        size = os.fstat(fd).st_size
        data = file.read(MAX_PREVIEW_BYTES + 1)
        encoding = encoding_of_file(fd)
    name = PurePosixPath(shown).name
    is_cut = len(data) > MAX_PREVIEW_BYTES
    text = None if encoding is None else _beginning(data[:MAX_PREVIEW_BYTES], encoding, is_cut=is_cut)
    return FileContent(
        path=shown,
        name=name,
        size=size,
        content=text,
        binary=text is None,
        language=None if text is None else language_of(name),
        truncated=is_cut and text is not None,
        encoding=None if encoding is None else encoding.name,
    )


def _beginning(data: bytes, encoding: TextEncoding, *, is_cut: bool) -> str:
    decoder = codecs.getincrementaldecoder(encoding.codec)(encoding.errors)
    # A character cut at the end is left out.
    return shown_text(decoder.decode(data.removeprefix(encoding.mark), final=not is_cut))
