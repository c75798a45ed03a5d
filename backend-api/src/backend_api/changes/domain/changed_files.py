"""The files that turns changed, joined over the turns: each with its difference from before the first to after the
last. All of it is told by a sandbox, in any number and length."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from backend_api.agent.changed_files import MAX_FILES
from backend_api.agent.events import FilesChanged, StoredPayload, ToolCalled, ToolFinished
from backend_api.changes.domain.differences import MAX_LINES, Comparisons, Edit, UnjoinableError

MAX_SHOWN_CHARACTERS = 1_000_000
"""The most characters of all differences together; those of further files are left out."""
MAX_WORK = 3_000_000
"""The most lines that are walked over to join all differences; of what is changed after that, only its files are
known."""
_NEW_LINE = 10
"""A line that is new costs so many times what one costs that is walked over."""
_WORKSPACE = re.compile(r"^(?:/?workspace/|\./)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that was changed, or `is_removed`. `is_known` is false if only that it changed is known, `is_cut` true if
    its differences are left out; several of them could not be joined. `is_rewritten` is true if it was written over,
    and nobody knows what that took from it: what is removed is then more than `removed`."""

    path: str
    added: int = 0
    removed: int = 0
    is_known: bool = False
    is_removed: bool = False
    is_cut: bool = False
    is_rewritten: bool = False
    diffs: tuple[str, ...] = ()


@dataclass(slots=True)
class _File:
    """The edits of a file, each joined of as many as could be; `is_open` if the next may join the last. Beside them
    `unshown` lines were added, too many to be shown."""

    edits: list[Edit] = field(default_factory=list[Edit])
    is_open: bool = False
    is_unknown: bool = False
    unshown: int = 0
    is_new: bool = False
    is_rewritten: bool = False

    @property
    def length(self) -> int:
        """The lines that the next edit walks over."""
        return len(self.edits[-1].lines) if self.is_open else 1

    def write_over(self, *, was_there: bool | None) -> None:
        """It is about to be written: whether that takes something from what was there before these turns, nobody can
        say unless it was not there, or was made in them."""
        self.is_new = self.is_new or (was_there is False and not self.edits and not self.unshown)
        self.is_rewritten = not self.is_new

    def write(self, text: str) -> None:
        """Everything before is gone."""
        self.edits, self.is_open, self.is_unknown, self.unshown = [Edit.whole(text)], True, False, 0

    def write_much(self, lines: int) -> None:
        """Write a text of too many lines."""
        self.edits, self.is_open, self.is_unknown, self.unshown = [], False, False, lines

    def append(self, text: str) -> None:
        """Add to the end, of which nobody knows at which line it is unless the whole file is known."""
        if self.is_open and self.edits[-1].is_whole and len(self.edits[-1].lines) < MAX_LINES:
            self.edits[-1].append(text)
            return
        self.edits.append(Edit.whole(text))
        self.is_open = False

    def append_much(self, lines: int) -> None:
        """Append a text of too many lines."""
        self.is_open = False
        self.unshown += lines

    def change(self, diff: str) -> bool:
        """Join the difference to the last, or keep it apart. Whether it could be read."""
        if self.is_open and _joins(self.edits[-1], diff):
            return True
        edit = Edit()
        self.is_open = _joins(edit, diff)
        if self.is_open:
            self.edits.append(edit)
        else:
            self.is_unknown = True
        return self.is_open

    def change_unseen(self) -> None:
        """Something changed it, and nobody knows how."""
        self.is_open, self.is_unknown = False, True


def _joins(edit: Edit, diff: str) -> bool:
    try:
        edit.join(diff)
    except UnjoinableError:
        return False
    return True


@dataclass(slots=True)
class FileChanges:
    """The changes that events tell, taken in their order."""

    gone: dict[str, bool] = field(default_factory=dict[str, bool])
    """Files that are there no more, and whether they were there at first, as far as is known."""
    _files: dict[str, _File] = field(default_factory=dict[str, _File])
    _texts: dict[str, str] = field(default_factory=dict[str, str])
    _told: dict[str, int] = field(default_factory=dict[str, int])
    _were_there: set[str] = field(default_factory=set[str])
    _work: int = MAX_WORK

    def take(self, payload: StoredPayload) -> None:
        """Take the next event."""
        match payload:
            case ToolCalled(call_id=call_id, arguments=arguments):
                text = arguments.get("content", arguments.get("text"))
                if isinstance(text, str):
                    self._texts[call_id] = text
            case ToolFinished(call_id=call_id, success=success, display=display):
                text = self._texts.pop(call_id, None)
                if success and display is not None:
                    self._take_call(display, text)
            case FilesChanged():
                self._take_paths(payload)
            case _:
                pass

    def _take_call(self, display: Mapping[str, Any], text: str | None) -> None:
        kind, path = display.get("type"), display.get("path")
        if not isinstance(path, str) or not path:
            return
        path = plain(path)
        if kind == "diff" and isinstance(diff := display.get("diff"), str):
            if path not in self._files and path not in self.gone:
                self._were_there.add(path)
            if (file := self._file(path)) is not None:
                self._change(file, diff)
        elif kind == "file" and text is not None and (operation := display.get("operation")) in ("write", "append"):
            self._take_write(path, display, text, is_appended=operation == "append")
        else:
            return
        self._told[path] = self._told.get(path, 0) + 1

    def _take_write(self, path: str, display: Mapping[str, Any], text: str, *, is_appended: bool) -> None:
        was_there, diff = display.get("replaced"), display.get("diff")
        if self.gone.get(path):
            # What the turns deleted before is not to be known any more.
            was_there = None
        if was_there is True and path not in self._files and path not in self.gone:
            self._were_there.add(path)
        if diff == "":
            return
        if (file := self._file(path)) is None:
            return
        if isinstance(diff, str) and self._changes_whole(file, diff):
            return
        if not is_appended:
            file.write_over(was_there=was_there if isinstance(was_there, bool) else None)
        self._write(file, text, is_appended=is_appended)

    def _changes_whole(self, file: _File, diff: str) -> bool:
        """Take a write as the change that it was, if its difference can be read."""
        self._work -= diff.count("\n") * _NEW_LINE + file.length
        return self._work > 0 and file.change(diff)

    def _change(self, file: _File, diff: str) -> None:
        self._work -= diff.count("\n") * _NEW_LINE + file.length
        if self._work > 0:
            file.change(diff)
        else:
            file.change_unseen()

    def _write(self, file: _File, text: str, *, is_appended: bool) -> None:
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines <= MAX_LINES and lines * _NEW_LINE <= self._work:
            self._work -= lines * _NEW_LINE
            (file.append if is_appended else file.write)(text)
        else:
            (file.append_much if is_appended else file.write_much)(lines)

    def _take_paths(self, changed: FilesChanged) -> None:
        removed = {plain(path) for path in changed.removed}
        for path in map(plain, changed.paths):
            if path in removed:
                self._remove(path)
            elif self._told.get(path, 0):
                self._told[path] -= 1
            elif changed.origin == "agent":
                if (file := self._file(path)) is not None:
                    file.change_unseen()
            elif path in self._files:
                # The person's own change; what the agent does to it afterwards is shown by itself.
                self._files[path].is_open = False

    def _file(self, path: str) -> _File | None:
        """The file, unless there are too many."""
        if path not in self._files and len(self._files) >= MAX_FILES:
            return None
        self.gone.pop(path, None)
        return self._files.setdefault(path, _File())

    def _remove(self, path: str) -> None:
        lost: list[str] = []
        if self._work > 0:
            self._work -= len(self._files)
            below = f"{path}/"
            lost = [one for one in self._files if one.startswith(below)]
        for one in [path, *lost][: MAX_FILES - len(self.gone)]:
            self.gone[one] = one in self._were_there
        for one in [path, *lost]:
            self._files.pop(one, None)
            self._told.pop(one, None)

    def files(self, there_before: Collection[str]) -> list[ChangedFile]:
        """The files in the order in which they were first changed, those that are gone last: of these only such as were
        there before."""
        comparisons = Comparisons()
        shown = [one for path, file in self._files.items() if (one := _shown(path, file, comparisons)) is not None]
        gone = [
            ChangedFile(path=path, is_removed=True)
            for path, was_there in self.gone.items()
            if was_there or path in there_before
        ]
        return [*_bounded(shown), *gone]


def files_there(changes: Iterable[FilesChanged], paths: Collection[str]) -> set[str]:
    """Those of the paths that were there after these changes, which are told newest first."""
    open_paths, there = set(paths), set[str]()
    for changed in changes:
        gone = {plain(path) for path in changed.removed}
        for path in [one for one in open_paths if any(one == lost or one.startswith(f"{lost}/") for lost in gone)]:
            open_paths.discard(path)
        found = open_paths & {plain(path) for path in changed.paths}
        there |= found
        open_paths -= found
    return there


def plain(path: str) -> str:
    """The path as it is below the workspace."""
    return _WORKSPACE.sub("", path, count=1)


def _shown(path: str, file: _File, comparisons: Comparisons) -> ChangedFile | None:
    diffs = tuple(diff for diff in (edit.diff(comparisons) for edit in file.edits) if diff)
    if not diffs and not file.unshown:
        return ChangedFile(path=path) if file.is_unknown else None
    added, removed = file.unshown, 0
    for diff in diffs:
        added += diff.count("\n+")
        removed += diff.count("\n-")
    if file.unshown:
        diffs = ()
    return ChangedFile(
        path=path,
        added=added,
        removed=removed,
        is_known=True,
        is_cut=file.unshown > 0,
        is_rewritten=file.is_rewritten,
        diffs=diffs,
    )


def _bounded(files: Iterable[ChangedFile]) -> list[ChangedFile]:
    room, bounded = MAX_SHOWN_CHARACTERS, list[ChangedFile]()
    for file in files:
        length = sum(map(len, file.diffs))
        if length > room:
            file = replace(file, is_cut=True, diffs=())
            length = 0
        room -= length
        bounded.append(file)
    return bounded
