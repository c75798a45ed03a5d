"""The file tools on a remote host."""

from __future__ import annotations

import difflib
import re
from collections.abc import Awaitable, Callable
from posixpath import basename, join, relpath
from typing import Any, Literal

import asyncssh
from asyncssh.constants import FILEXFER_TYPE_DIRECTORY

from backend_api.agent.tool import Done
from backend_api.targets.ssh.arguments import (
    FileDelete,
    FileEdit,
    FileFind,
    FileList,
    FileMove,
    FileRead,
    FileSearch,
    FileWrite,
)
from backend_api.targets.ssh.connections import FILES_LOST
from backend_api.targets.ssh.files import MAX_READ_BYTES, FileTooLargeError, HostFiles
from backend_api.targets.ssh.outputs import output_of
from backend_api.targets.ssh.shells import quoted
from contracts.tools import DiffDisplay, FileDisplay

Operation = Literal["read", "write", "append", "delete", "move", "list", "find", "search"]
MAX_SHOWN_CHARACTERS = 400_000
MAX_FOUND = 1_000
MAX_FOUND_BYTES = 1_000_000
MAX_CODE_BYTES = 100
"""What comes behind what was found."""
MAX_DIFF_CHARACTERS = 100_000
_SKIPPED = r"\( -name .git -o -name node_modules -o -name __pycache__ \) -prune -o"


async def explained(path: str, work: Callable[[], Awaitable[Done]]) -> Done:
    """Turn an error of a path into a result; the error of a broken connection is raised."""
    try:
        return await work()
    except FileTooLargeError:
        return _failed(f"{path} has more than {MAX_READ_BYTES // 1024**2} MB. Look at parts of it in a shell.")
    except FILES_LOST:
        raise
    except asyncssh.SFTPError as error:
        return _failed(f"{error.reason[:200] or 'It failed on the host'}: {path}")


async def read(files: HostFiles, arguments: FileRead) -> Done:
    path = await files.located(arguments.path)
    content = await files.read(path)
    if b"\0" in content[:8192]:
        return _failed(f"{path} is not a text file. Only text can be read on a remote host; use a shell.")
    lines = content.decode(errors="replace").splitlines(keepends=True)
    end = arguments.end_line or len(lines)
    text = "".join(lines[arguments.start_line - 1 : end])
    note = ""
    if len(text) > MAX_SHOWN_CHARACTERS:
        text, note = text[:MAX_SHOWN_CHARACTERS], "\n[more was left out: ask for some of its lines]"
    if not text:
        note = f"[there is nothing in these lines: the file has {len(lines)}]" if lines else "[the file is empty]"
    return Done(success=True, output=text + note, display=_file(path, "read", size=len(content)))


async def write(files: HostFiles, arguments: FileWrite) -> Done:
    path = await files.located(arguments.path)
    content = arguments.content.encode()
    was_there = await files.on.sftp.exists(path)
    await files.write(path, content)
    said = f"Wrote {len(content)} bytes to {path}."
    display = FileDisplay(path=path, operation="write", size=len(content), replaced=was_there)
    return _changed(files, said, path, display.model_dump(mode="json"))


async def append(files: HostFiles, arguments: FileWrite) -> Done:
    path = await files.located(arguments.path)
    before = await files.read(path) if await files.on.sftp.exists(path) else b""
    content = before + arguments.content.encode()
    await files.write(path, content)
    said = f"Added to {path}, now {len(content)} bytes."
    return _changed(files, said, path, _file(path, "append", size=len(content)))


async def edit(files: HostFiles, arguments: FileEdit) -> Done:
    path = await files.located(arguments.path)
    try:
        before = (await files.read(path)).decode()
    except UnicodeDecodeError:
        return _failed(f"{path} is not UTF-8 text, so it can't be edited here. Use a shell.")
    found = before.count(arguments.old)
    if found == 0:
        return _failed(f"The text to replace does not occur in {path}. Read the file and copy it exactly.")
    if found > 1 and not arguments.replace_all:
        return _failed(
            f"The text to replace occurs {found} times in {path}. Give more of its surroundings, or set replace_all."
        )
    after = before.replace(arguments.old, arguments.new)
    await files.write(path, after.encode())
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    diff = "\n".join(lines)[:MAX_DIFF_CHARACTERS]
    times = "once" if found == 1 else f"{found} times"
    display = DiffDisplay(path=path, diff=diff).model_dump(mode="json")
    return _changed(files, f"Replaced {times} in {path}.\n{diff}", path, display)


async def list_folder(files: HostFiles, arguments: FileList) -> Done:
    path = await files.located(arguments.path)
    entries, is_cut = await files.entries(path)
    names = [_shown(f"{one.name}/" if one.is_dir else one.name) for one in entries]
    return _entries(path, "list", names, is_cut=is_cut, nothing="[the folder is empty]")


async def find(files: HostFiles, arguments: FileFind) -> Done:
    path = await files.located(arguments.path)
    await files.on.sftp.stat(path)
    script = f'cd -- "$1" && find . -mindepth 1 {_SKIPPED} -print 2>/dev/null | head -c {MAX_FOUND_BYTES}'
    output = await _run(files, script, path)
    matches = _glob(arguments.pattern)
    names = sorted(line.removeprefix("./") for line in output.splitlines() if matches(line.removeprefix("./")))
    is_cut = len(names) > MAX_FOUND or len(output) >= MAX_FOUND_BYTES
    return _entries(path, "find", names[:MAX_FOUND], is_cut=is_cut, nothing="[nothing matches]")


async def search(files: HostFiles, arguments: FileSearch) -> Done:
    path = await files.located(arguments.path)
    await files.on.sftp.stat(path)
    options = "-rnIEi" if arguments.ignore_case else "-rnIE"
    skipped = "--exclude-dir=.git --exclude-dir=node_modules --exclude-dir=__pycache__"
    script = (
        f'grep {options} {skipped} -e "$2" -- "$1" 2>&1 | cut -c 1-2000 | head -c {MAX_FOUND_BYTES}; echo; '
        'printf "" | grep -E -e "$2" >/dev/null 2>&1; echo "$?"'
    )
    *lines, code = (await _run(files, script, path, arguments.pattern)).splitlines()
    if code == "2":
        return _failed("The pattern is not a valid regular expression for grep -E.")
    found = [line for line in lines if line]
    names = [relpath(line, path) if line.startswith("/") and ":" not in line else line for line in found]
    is_cut = len(names) > MAX_FOUND
    return _entries(path, "search", names[:MAX_FOUND], is_cut=is_cut, nothing="[nothing matches]")


async def move(files: HostFiles, arguments: FileMove) -> Done:
    source, destination = await files.located(arguments.source), await files.located(arguments.destination)
    if source == files.on.folder:
        return _failed("The working folder itself can't be moved.")
    sftp = files.on.sftp
    await sftp.lstat(source)
    if await sftp.isdir(destination):
        destination = join(destination, basename(source))
    if await sftp.lexists(destination):
        if not arguments.overwrite:
            return _failed(f"{destination} already exists. Set overwrite to replace it.")
        await files.replace(source, destination)
    else:
        await sftp.rename(source, destination)
    display = _file(destination, "move")
    return _changed(files, f"Moved {source} to {destination}.", destination, display)


async def delete(files: HostFiles, arguments: FileDelete) -> Done:
    path = await files.located(arguments.path)
    if path in (files.on.folder, "/"):
        return _failed("The working folder itself can't be deleted.")
    sftp = files.on.sftp
    attributes = await sftp.lstat(path)
    if attributes.type != FILEXFER_TYPE_DIRECTORY:
        await sftp.remove(path)
    elif arguments.recursive:
        await sftp.rmtree(path)  # pyright: ignore[reportUnknownMemberType] -- a handler without types
    else:
        await sftp.rmdir(path)
    return _changed(files, f"Deleted {path}.", path, _file(path, "delete"))


async def _run(files: HostFiles, script: str, *arguments: str) -> str:
    output = await output_of(files.on.ssh, quoted(script, *arguments), MAX_FOUND_BYTES + MAX_CODE_BYTES)
    return output.content.decode(errors="replace")


def _glob(pattern: str) -> Callable[[str], bool]:
    """A matcher of paths. A pattern without a slash matches the name at any depth; `**` stands for any folders."""
    parts = list[str]()
    for part in re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]*\])", pattern):
        special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        if part in special:
            parts.append(special[part])
        elif part.startswith("[") and part.endswith("]") and len(part) > 2:
            inner = part[1:-1].replace("\\", "\\\\")
            parts.append(f"[^{inner[1:]}]" if inner[0] == "!" else f"[{inner}]")
        else:
            parts.append(re.escape(part))
    try:
        compiled = re.compile("".join(parts))
    except re.error:
        compiled = re.compile(re.escape(pattern))
    of_name = "/" not in pattern
    return lambda path: compiled.fullmatch(basename(path) if of_name else path) is not None


def _shown(name: str) -> str:
    """A name on one line, whatever the host put into it; characters that nobody sees as their codes."""
    if name.isprintable():
        return name
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in name)


def _changed(files: HostFiles, output: str, path: str, display: dict[str, Any]) -> Done:
    """The result of a change, with paths of the working folder shown as those of a workspace."""
    inside = relpath(path, files.on.folder)
    changed = [] if inside.startswith("..") else [inside]
    return Done(success=True, output=output, display=display, changed_paths=changed)


def _file(path: str, operation: Operation, *, size: int | None = None) -> dict[str, Any]:
    return FileDisplay(path=path, operation=operation, size=size).model_dump(mode="json")


def _entries(path: str, operation: Operation, entries: list[str], *, is_cut: bool, nothing: str) -> Done:
    note = "\n[more was left out]" if is_cut else ""
    display = FileDisplay(path=path, operation=operation, entries=entries).model_dump(mode="json")
    return Done(success=True, output=("\n".join(entries) or nothing) + note, display=display)


def _failed(text: str) -> Done:
    return Done(success=False, output=text)
