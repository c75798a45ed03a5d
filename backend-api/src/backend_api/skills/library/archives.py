"""Skills as zip archives from untrusted sources: accepted as a whole, or refused as a whole with the reason."""

from __future__ import annotations

import contextlib
import io
import stat
import zipfile
import zlib
from collections.abc import Sequence

from backend_api.skills.domain.entity import MAIN, MAX_ARCHIVE_BYTES, MAX_BYTES, MAX_FILES, Skill, check_paths
from backend_api.skills.domain.errors import SkillRefusedError
from backend_api.skills.library.front_matter import parse_main
from service_kit.amounts import size_text

_ZIP = b"PK\x03\x04"
_TAKEN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_IN_UTF8 = 0x800
_ENCRYPTED = 0x1
_MOST_ENTRIES = MAX_FILES * 4
_LEFT_OUT = ("__MACOSX/", ".DS_Store", "Thumbs.db")
"""Files that systems add by themselves, and nobody means to pass on."""
_WHEN = (1980, 1, 1, 0, 0, 0)


class ZipArchives:
    """`SkillArchives`."""

    def read(self, file_name: str, content: bytes) -> Skill:
        if len(content) > MAX_ARCHIVE_BYTES:
            raise SkillRefusedError(f"A skill's archive may have at most {size_text(MAX_ARCHIVE_BYTES)}.")
        if content.startswith(_ZIP):
            return read_zip(content)
        if file_name.lower().endswith((".md", ".markdown")):
            return skill_of({MAIN: content})
        raise SkillRefusedError(f"The file is neither a zip archive nor a {MAIN}.")

    def packed(self, skill: Skill) -> bytes:
        return pack(skill)


def skill_of(contents: dict[str, bytes]) -> Skill:
    """The skill of these files. Raises `SkillRefusedError`."""
    check_paths([*contents])
    if MAIN not in contents:
        raise SkillRefusedError(f"The archive has no {MAIN} at its top or in its only folder.")
    if sum(map(len, contents.values())) > MAX_BYTES:
        raise SkillRefusedError(f"A skill may have at most {size_text(MAX_BYTES)}.")
    name, description, instructions = parse_main(contents[MAIN])
    return Skill(name=name, description=description, instructions=instructions, contents=contents)


def read_zip(content: bytes) -> Skill:
    """The skill of an archive with `SKILL.md` at its top, or in the one folder that holds everything. Raises
    `SkillRefusedError`."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            entries = _checked(packed.infolist())
            contents = _read(packed, entries)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError, ValueError) as error:
        raise SkillRefusedError("The file is damaged or not a zip archive.") from error
    return skill_of(_without_folder(contents))


def pack(skill: Skill) -> bytes:
    """The skill as a zip archive; equal files give equal bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in skill.paths:
            info = zipfile.ZipInfo(path, date_time=_WHEN)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, skill.contents[path])
    return packed.getvalue()


def _checked(entries: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """The archive's files. Their declared sizes are not trusted, but may be enough to refuse it."""
    if len(entries) > _MOST_ENTRIES:
        raise SkillRefusedError(f"A skill may have at most {MAX_FILES} files; this archive has {len(entries)} entries.")
    kept: list[zipfile.ZipInfo] = []
    for entry in entries:
        name = _path_of(entry)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise SkillRefusedError(f"{name[:100]!r} is a link or a device; only files and folders are allowed.")
        if entry.flag_bits & _ENCRYPTED:
            raise SkillRefusedError("The archive is encrypted.")
        if "\\" in name:
            raise SkillRefusedError(f"{name[:100]!r} is not a valid file name in a skill.")
        if name.endswith("/"):
            check_paths([name.rstrip("/") or name])
        elif not _is_left_out(name):
            if entry.compress_type not in _TAKEN:
                raise SkillRefusedError(f"{name[:100]!r} uses an unsupported compression method.")
            kept.append(entry)
    check_paths([_path_of(entry) for entry in kept])
    if sum(entry.file_size for entry in kept) > MAX_BYTES:
        raise SkillRefusedError(f"Unpacked, this exceeds the {size_text(MAX_BYTES)} that a skill may have.")
    return kept


def _path_of(entry: zipfile.ZipInfo) -> str:
    """The path of an entry. An archive declares the encoding only for UTF-8 (APPNOTE 6.3, 4.4.4): other names are
    ASCII, UTF-8 as a Mac writes it, or the encoding of Chinese Windows."""
    path = entry.orig_filename
    if path.isascii() or entry.flag_bits & _IN_UTF8:
        return path
    data = path.encode("cp437")
    for encoding in ("utf-8", "gb18030"):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return path


def _read(packed: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    left = MAX_BYTES
    for entry in entries:
        with packed.open(entry) as opened:
            content = opened.read(left + 1)
        left -= len(content)
        if left < 0:
            raise SkillRefusedError(f"Unpacked, this exceeds the {size_text(MAX_BYTES)} that a skill may have.")
        contents[_path_of(entry)] = content
    return contents


def _without_folder(contents: dict[str, bytes]) -> dict[str, bytes]:
    folders = {path.partition("/")[0] for path in contents}
    if MAIN in contents or len(folders) != 1:
        return contents
    prefix = f"{folders.pop()}/"
    return {path.removeprefix(prefix): content for path, content in contents.items()}


def _is_left_out(name: str) -> bool:
    return name.startswith(_LEFT_OUT[0]) or name.rpartition("/")[2] in _LEFT_OUT
