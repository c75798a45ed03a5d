"""Archives that anybody may have written: taken whole, or refused whole with the reason."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.skills.domain.entity import MAX_BYTES, MAX_FILES, Skill
from backend_api.skills.domain.errors import SkillRefusedError
from backend_api.skills.library.archives import ZipArchives, pack, read_zip

MAIN = b"---\nname: knots\ndescription: How to tie.\n---\nTie it.\n"


def packed(files: Mapping[str, bytes], **kinds: int) -> bytes:
    """`kinds` are of files by the letter they begin with."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = kinds.get(name[0], stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)
    return content.getvalue()


def refused(content: bytes, name: str = "knots.zip") -> str:
    with pytest.raises(SkillRefusedError) as error:
        ZipArchives().read(name, content)
    return error.value.detail


def test_a_folder_in_an_archive_is_the_skill_itself() -> None:
    skill = read_zip(packed({"knots/SKILL.md": MAIN, "knots/scripts/tie.sh": b"#!", "__MACOSX/knots/._x": b"."}))
    assert (skill.name, skill.description, skill.instructions) == ("knots", "How to tie.", "Tie it.")
    assert skill.paths == ["SKILL.md", "scripts/tie.sh"]


def test_a_single_file_is_one_too() -> None:
    assert ZipArchives().read("SKILL.md", MAIN).paths == ["SKILL.md"]
    assert "neither a zip archive nor" in refused(MAIN, "knots.txt")


def test_what_is_packed_is_read_as_it_was() -> None:
    skill = read_zip(packed({"SKILL.md": MAIN, "references/a b.txt": b"\0\xff", "references/\u4e2d.txt": b""}))
    assert read_zip(pack(skill)) == skill
    assert pack(skill) == pack(read_zip(pack(skill)))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../up.txt", "points outside"),
        ("a/../../up.txt", "points outside"),
        ("./a.txt", "points outside"),
        ("/etc/passwd", "absolute"),
        ("C:/x.txt", "absolute"),
        ("a//b.txt", "not a valid file name"),
        ("a\nb.txt", "not a valid file name"),
        ("a/b/c/d/e/f/g.txt", "not a valid file name"),
        pytest.param("\u4e2d" * 86 + "/x.txt", "not a valid file name", id="more than 255 bytes"),
        ("skill.md", "occurs twice"),
        ("SKILL.md/x", "a file and a folder"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str, reason: str) -> None:
    assert reason in refused(packed({"SKILL.md": MAIN, name: b"x"}))


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8"])
def test_names_of_an_archive_that_says_no_encoding_are_read(encoding: str) -> None:
    """Windows in Chinese writes names so, and a Mac those in UTF-8."""
    name = "模板说明".encode(encoding)
    made = packed({"SKILL.md": MAIN, f"references/{'X' * len(name)}.md": b"x"}).replace(b"X" * len(name), name)
    assert read_zip(made).paths == ["SKILL.md", "references/模板说明.md"]


def test_folders_are_looked_at_too() -> None:
    assert "points outside" in refused(packed({"SKILL.md": MAIN, "../": b""}, **{".": stat.S_IFDIR | 0o755}))


def test_an_empty_name_is_refused() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("SKILL.md", MAIN)
        nameless = zipfile.ZipInfo("x")
        nameless.filename = nameless.orig_filename = ""
        archive.writestr(nameless, b"x")
    assert "not a valid file name" in refused(content.getvalue())
    assert "not a valid file name" in refused(packed({"SKILL.md": MAIN, "a.txt": b"x"}).replace(b"a.txt", b"\0.txt"))


def test_a_name_with_a_backslash_is_refused() -> None:
    content = packed({"SKILL.md": MAIN, "a/b.txt": b"x"}).replace(b"a/b.txt", b"a\\b.txt")
    assert "not a valid file name" in refused(content)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices_are_refused(kind: int) -> None:
    assert "link or a device" in refused(packed({"SKILL.md": MAIN, "x": b"/etc/passwd"}, x=kind | 0o777))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in ("SKILL.md", "a.txt", "a.txt"):
            archive.writestr(name, MAIN)
    assert "occurs twice" in refused(content.getvalue())


def test_what_unpacks_to_gigabytes_is_refused_whatever_it_says_of_its_size() -> None:
    content = packed({"SKILL.md": MAIN, "zeros": bytes(MAX_BYTES + 1)})
    assert len(content) < 100_000
    assert "Unpacked, this exceeds" in refused(content)
    real = struct.pack("<I", MAX_BYTES + 1)
    assert "Unpacked, this exceeds" not in refused(content.replace(real, struct.pack("<I", 10)))


def test_too_many_files_are_refused() -> None:
    assert f"at most {MAX_FILES} files" in refused(
        packed({"SKILL.md": MAIN} | {f"f{at}": b"" for at in range(MAX_FILES)})
    )
    assert f"at most {MAX_FILES} files" in refused(packed({f"f{at}": b"" for at in range(1_000)}))


def test_an_archive_that_is_damaged_encrypted_or_no_skill_is_refused() -> None:
    content = packed({"SKILL.md": MAIN, "a.txt": b"abc" * 1000})
    assert "damaged" in refused(content[:-30])
    assert "damaged" in refused(content.replace(b"a.txt", b"b.txt", 1))
    locked = bytearray(content)
    locked[content.rindex(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in refused(bytes(locked))
    assert "no SKILL.md" in refused(packed({"a/SKILL.md": MAIN, "b/x": b""}))
    assert "no SKILL.md" in refused(packed({"a.txt": b""}))


@given(st.binary(max_size=400))
def test_whatever_comes_is_a_skill_or_refused(noise: bytes) -> None:
    base = packed({"SKILL.md": MAIN})
    for content in (noise, b"PK\x03\x04" + noise, base[: len(base) // 2] + noise + base[len(base) // 2 :]):
        with suppress(SkillRefusedError):
            assert isinstance(ZipArchives().read("x.zip", content), Skill)
