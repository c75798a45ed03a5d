"""Searching in trees of folders, by ripgrep and without it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tool_api.tools.files.search import BadPatternError, Found, search
from tool_api.workspace import Workspace

DEEP = 100
# Paths may have 4,096 bytes, and more is only reached folder by folder.


@pytest.fixture
def root() -> Iterator[Path]:
    # In memory: thousands of folders are made.
    root = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield root
    subprocess.run(["rm", "-rf", str(root)], check=True)


def _nowhere(_: str, path: str | None = None) -> None:
    del path


@pytest.fixture(params=["rg", "python"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(shutil, "which", _nowhere)
    elif shutil.which("rg") is None:
        pytest.skip("ripgrep is missing")
    return request.param


def nest(root: Path, depth: int) -> None:
    """So many folders in one another, and two beside each other at their end, each with a file that says `needle`."""
    fd = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        fd = into(fd, "d")
    for name in "ab":
        inner = into(os.dup(fd), name)
        file = os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=inner)
        os.write(file, b"a needle\n")
        os.close(file)
        os.close(inner)
    os.close(fd)


def into(fd: int, name: str) -> int:
    os.mkdir(name, dir_fd=fd)
    inner = os.open(name, os.O_RDONLY, dir_fd=fd)
    os.close(fd)
    return inner


def found(root: Path, pattern: str, path: str = ".") -> Found:
    with Workspace(root).locate(path) as place:
        return asyncio.run(search(place, pattern, ignore_case=False))


@pytest.mark.usefixtures("way")
def test_what_lies_deep_is_searched(root: Path) -> None:
    nest(root, DEEP)
    below = "d/" * DEEP
    assert found(root, "needle") == Found([f"{below}{name}/file:1:a needle" for name in "ab"], is_cut=False)


@pytest.mark.usefixtures("way")
def test_a_bad_pattern_is_told_from_a_search_without_a_match(root: Path) -> None:
    nest(root, 2)
    with pytest.raises(BadPatternError):
        found(root, "(")
    assert found(root, "nothing") == Found([], is_cut=False)


@pytest.mark.usefixtures("way")
def test_names_that_are_no_text_links_and_pipes_spoil_no_search(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("a needle\n")
    (root / "link").symlink_to(tmp_path)
    (root / "file-link").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "pipe")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.txt")).write_text("a needle\n")
    (root / "plain").write_text("a needle\n")
    assert sorted(found(root, "needle").lines) == ["plain:1:a needle", "ÿ.txt:1:a needle"]
    assert found(root, "needle", "plain").lines == ["plain:1:a needle"]


@pytest.mark.usefixtures("way")
def test_files_in_other_encodings_are_searched_as_what_they_are(root: Path) -> None:
    chinese = "客户名单,北京市海淀区,工程师"
    texts = {
        "gb18030": chinese,
        "big5": "客戶名單,臺北市中正區,工程師與學生",
        "cp932": "顧客名簿,東京都港区の会社員です",
        "cp949": "고객 名單,서울특별시 강남구에 사는 사람",
        "utf-16": chinese,
        "utf-8-sig": chinese,
    }
    for encoding, text in texts.items():
        (root / f"{encoding}.csv").write_bytes(("plain,ascii\n" * 1000 + text + "\n").encode(encoding))
    (root / "a.bin").write_bytes(b"\0" + chinese.encode("gb18030"))
    (root / "b.log").write_bytes(f"{chinese}\n".encode() * 20 + b"\xff\n")
    lines = found(root, "名[单單簿],").lines
    assert lines[:20] == [f"b.log:{number}:{chinese}" for number in range(1, 21)]
    assert lines[20:] == [f"{encoding}.csv:1001:{text}" for encoding, text in sorted(texts.items())]
    assert found(root, "plain", "gb18030.csv").lines == [
        f"gb18030.csv:{number}:plain,ascii" for number in range(1, 1001)
    ]


WORDS = {
    "cp874": "รายชื่อลูกค้าที่อยู่ในกรุงเทพมหานคร",
    "cp1251": "список клиентов, которые живут в Москве",
    "cp1252": "die Größe der Straßen und das Café, señor",
    "cp1253": "κατάλογος πελατών που ζουν στην Αθήνα",
    "iso8859_8": "רשימת הלקוחות שגרים בירושלים",
    "iso2022_jp": "顧客名簿,東京都港区の会社員です",
    "euc_jp": "顧客名簿,東京都港区の会社員です。よろしくお願いします",
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("encoding", WORDS)
def test_a_folder_with_a_file_in_another_encoding_is_searched(root: Path, encoding: str) -> None:
    text = WORDS[encoding]
    (root / "b.txt").write_bytes((f"{text}\n" * 10).encode(encoding))
    (root / "a.txt").write_text("needle\n")
    assert found(root, "needle") == Found(["a.txt:1:needle"], is_cut=False)
    expected = [f"b.txt:{number}:{text}" for number in range(1, 11)]
    assert found(root, text[3:7], "b.txt").lines == expected
    if encoding != "iso2022_jp":
        # It is ASCII, and not seen to be anything else by ripgrep.
        assert found(root, text[3:7]).lines == expected


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("encoding", "mark"),
    [(one, "\ufeff") for one in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")]
    + [("utf-16-le", ""), ("utf-16-be", "")],
)
def test_a_file_in_a_wide_encoding_is_searched_by_its_path(root: Path, encoding: str, mark: str) -> None:
    (root / "a.txt").write_bytes((mark + "plain,ascii\nneedle,中\n" + "plain,ascii\n" * 50).encode(encoding))
    assert found(root, "n.*,中", "a.txt") == Found(["a.txt:2:needle,中"], is_cut=False)
    with pytest.raises(BadPatternError):
        found(root, "(", "a.txt")


NAMES = (
    "GB18030 Big5 Shift_JIS EUC-JP EUC-KR ISO-2022-JP UTF-16LE UTF-16BE IBM866 KOI8-U x-mac-cyrillic windows-874 "
    "ISO-8859-2 ISO-8859-4 ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 ISO-8859-13 windows-1250 windows-1251 "
    "windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258"
)


@pytest.mark.parametrize("name", NAMES.split())
def test_ripgrep_knows_the_name_of_each_encoding(root: Path, name: str) -> None:
    """Of each that a text may be found to be in, but UTF-32."""
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        pytest.skip("ripgrep is missing")
    (root / "a").write_text("x\n")
    complaint = subprocess.run([ripgrep, f"--encoding={name}", "y", str(root)], check=False, capture_output=True).stderr
    assert complaint == b""


def test_a_module_in_the_folder_that_is_searched_is_not_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", _nowhere)
    for name in ("re.py", "os.py", "tool_api.py", "sitecustomize.py"):
        (root / name).write_text("open('run', 'w')\n# needle\n")
    assert len(found(root, "needle").lines) == 4
    assert not (root / "run").exists()


def test_no_program_that_the_agent_put_into_its_home_is_run(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only reads needs no approval and runs in plan mode too."""
    programs = tmp_path / ".local" / "bin"
    programs.mkdir(parents=True)
    (programs / "rg").write_text(f"#!/bin/sh\ntouch {root}/run\n")
    (programs / "rg").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    (root / "plain").write_text("a needle\n")
    assert found(root, "needle").lines == ["plain:1:a needle"]
    assert not (root / "run").exists()
