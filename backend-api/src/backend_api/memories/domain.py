"""A user's memories from one session to the next: a few small files, changed one step at a time.

A change names what it replaces. If that was changed meanwhile, the error holds the present text, so that no change is
lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from backend_api.kit.ids import UserId
from backend_api.kit.invisible_characters import TAGS
from backend_api.memories.errors import (
    MemoryChangedError,
    MemoryExistsError,
    MemoryInvalidError,
    MemoryNotFoundError,
    MemoryTooLargeError,
)
from backend_api.memories.paths import ROOT, checked_path

MAX_FILE_BYTES = 4_096
MAX_USER_BYTES = 64 * 1024
"""The most bytes of all texts and names of a user together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """A file of memories. `etag` is a hash of its text."""

    path: str
    content: str

    @property
    def size(self) -> int:
        return len(self.content.encode())

    @property
    def etag(self) -> str:
        return hashlib.sha256(self.content.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """The memories of a user at a version; each change returns the memories after it, or raises why it can't be
    made."""

    user_id: UserId
    version: int = 0
    """The version of all files together; 0 means that nothing was ever stored."""
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts by their names below `/memories/`."""

    @property
    def files(self) -> list[MemoryFile]:
        return [MemoryFile(path=path, content=self.texts[path]) for path in sorted(self.texts)]

    @property
    def size(self) -> int:
        return sum(len(path.encode()) + len(content.encode()) for path, content in self.texts.items())

    def file(self, path: str) -> MemoryFile:
        """The file at the path. Raises `MemoryNotFoundError`."""
        name = checked_path(path)
        if name not in self.texts:
            raise MemoryNotFoundError(f"There is no memory {ROOT}/{name}.")
        return MemoryFile(path=name, content=self.texts[name])

    def created(self, path: str, content: str) -> Memories:
        """The memories with a new file. Raises `MemoryExistsError` if the name is taken."""
        name = checked_path(path)
        if name in self.texts:
            raise MemoryExistsError(f"There is a memory {ROOT}/{name} already.", self.texts[name])
        for other in self.texts:
            if other.startswith(f"{name}/") or name.startswith(f"{other}/"):
                raise MemoryExistsError(f"{ROOT}/{other} is there already, and a name is either a file or a folder.")
        return self._with_file(name, content)

    def written(self, path: str, content: str, etag: str) -> Memories:
        """The memories with the whole text of a file replaced, which must match `etag`."""
        return self._with_file(self._as_read(path, etag).path, content)

    def replaced(self, path: str, old: str, new: str) -> Memories:
        """The memories with `old` replaced by `new`; `old` must occur exactly once."""
        present = self.file(path)
        found = _occurrences(present.content, old)
        if found != 1:
            times = "not" if found == 0 else f"{found} times"
            raise MemoryChangedError(
                f"The text to replace is {times} in {ROOT}/{present.path}; it has to be there exactly once.",
                present.content,
            )
        return self._with_file(present.path, present.content.replace(old, new))

    def inserted(self, path: str, line: int, text: str) -> Memories:
        """The memories with a text inserted after this line; 0: before the first one."""
        present = self.file(path)
        lines = present.content.splitlines(keepends=True)
        if line > len(lines):
            raise MemoryChangedError(f"{ROOT}/{present.path} has {len(lines)} lines only.", present.content)
        if line and not lines[line - 1].endswith("\n"):
            lines[line - 1] += "\n"
        lines.insert(line, text if text.endswith("\n") else f"{text}\n")
        return self._with_file(present.path, "".join(lines))

    def deleted(self, path: str, etag: str) -> Memories:
        """The memories without a file, which must match `etag`."""
        name = self._as_read(path, etag).path
        return self._with_texts({one: content for one, content in self.texts.items() if one != name})

    def renamed(self, path: str, to: str) -> Memories:
        """The memories with a file renamed to a free name, its text unchanged."""
        present = self.file(path)
        others = {one: content for one, content in self.texts.items() if one != present.path}
        return self._with_texts(others).created(to, present.content)

    def _as_read(self, path: str, etag: str) -> MemoryFile:
        present = self.file(path)
        if present.etag != etag:
            raise MemoryChangedError(f"{ROOT}/{present.path} was changed since it was read.", present.content)
        return present

    def _with_file(self, name: str, content: str) -> Memories:
        size = _size_of(content)
        if size > MAX_FILE_BYTES:
            raise MemoryTooLargeError(
                f"{ROOT}/{name} would have {size:,} bytes, and a memory has at most {MAX_FILE_BYTES:,}."
            )
        fresh = self._with_texts({**self.texts, name: content})
        if fresh.size > MAX_USER_BYTES and fresh.size > self.size:
            raise MemoryTooLargeError(
                f"All memories together would have {fresh.size:,} bytes, and may have {MAX_USER_BYTES:,}. Shorten or "
                "delete some first."
            )
        return fresh

    def _with_texts(self, texts: Mapping[str, str]) -> Memories:
        return replace(self, texts=texts)


def _occurrences(content: str, old: str) -> int:
    """The number of occurrences, overlapping ones included: to replace one of those would be a guess."""
    if not old:
        return 0
    count, at = 0, content.find(old)
    while at >= 0:
        count, at = count + 1, content.find(old, at + 1)
    return count


def _size_of(content: str) -> int:
    try:
        size = len(content.encode())
    except UnicodeEncodeError as error:
        raise MemoryInvalidError("The text has half of a character in it.", field="content") from error
    if "\x00" in content:
        raise MemoryInvalidError("The text of a memory has no NUL.", field="content")
    if tag := TAGS.search(content):
        reason = f"The text has the character U+{ord(tag.group()):04X}, which nobody sees. Leave it out."
        raise MemoryInvalidError(reason, field="content")
    return size
