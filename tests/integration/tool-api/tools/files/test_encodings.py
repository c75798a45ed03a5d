"""Files in other encodings than UTF-8, as the tools and the files panel read and change them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.documents import context, read
from tool_api.documents.programs import DocumentPrograms
from tool_api.documents.reader import DocumentReader
from tool_api.files.listing import MAX_PREVIEW_BYTES, preview
from tool_api.tools.files.controller import FileController
from tool_api.tools.files.types import FileAppend, FileEdit, FileWrite
from tool_api.workspace import Workspace

TABLE = "编号,名称\r\n" + "1,plain ascii\r\n" * 600 + "2,北京市海淀区的工程师,还有很多别的内容\r\n"
ENCODINGS = ["gb18030", "utf-16-le", "utf-8-sig", "utf-8"]


@pytest.fixture
def controller(tmp_path: Path) -> FileController:
    return FileController(workspace=Workspace(tmp_path), documents=DocumentReader(DocumentPrograms()))


def write_table(folder: Path, encoding: str) -> bytes:
    """The table in an encoding, UTF-16 with its mark."""
    data = ("\ufeff" if encoding == "utf-16-le" else "").encode("utf-16-le") + TABLE.encode(encoding)
    (folder / "a.csv").write_bytes(data)
    return data


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_what_is_added_to_a_file_is_in_its_encoding(
    tmp_path: Path, controller: FileController, encoding: str
) -> None:
    before = write_table(tmp_path, encoding)
    answer = await controller.append(context(), FileAppend(path="a.csv", content="3,上海\n"))
    assert answer.success
    more = "3,上海\r\n".encode("utf-8" if encoding == "utf-8-sig" else encoding)
    assert (tmp_path / "a.csv").read_bytes() == before + more
    assert ("GB18030" in answer.output) == (encoding == "gb18030")


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb", "\nc\n", b"a\r\nb\r\nc\r\n"),
        (b"a\r\n", "b\r\nc\n", b"a\r\nb\r\nc\r\n"),
        (b"a\r\nb\n", "c\n", b"a\r\nb\nc\n"),
        (b"a\n", "b\r\nc\n", b"a\nb\r\nc\n"),
        (b"", "b\n", b"b\n"),
    ],
)
async def test_what_is_added_ends_its_lines_as_all_lines_of_the_file_do(
    tmp_path: Path, controller: FileController, before: bytes, content: str, after: bytes
) -> None:
    (tmp_path / "a.bat").write_bytes(before)
    await controller.append(context(), FileAppend(path="a.bat", content=content))
    assert (tmp_path / "a.bat").read_bytes() == after


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
async def test_a_file_that_is_written_anew_keeps_its_ends_of_lines(
    tmp_path: Path, controller: FileController, codec: str
) -> None:
    (tmp_path / "a.bat").write_bytes("a\r\nb\r\n".encode(codec))
    answer = await controller.write(context(), FileWrite(path="a.bat", content="c\nd\n"))
    assert (tmp_path / "a.bat").read_bytes() == "c\r\nd\r\n".encode(codec)
    assert "with CRLF at the ends of lines, as the file was before. Delete it first" in answer.output
    (tmp_path / "a.sh").write_bytes(b"a\r\nb\n")
    answer = await controller.write(context(), FileWrite(path="a.sh", content="c\n"))
    assert ((tmp_path / "a.sh").read_bytes(), answer.output) == (b"c\n", "Wrote 2 bytes to a.sh.")


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_an_edit_changes_what_it_names_and_no_other_byte(
    tmp_path: Path, controller: FileController, encoding: str
) -> None:
    before = write_table(tmp_path, encoding)
    answer = await controller.edit(context(), FileEdit(path="a.csv", old="名称\n1,", new="姓名\n1,"))
    assert answer.success, answer.output
    plain = "utf-8" if encoding == "utf-8-sig" else encoding
    expected = before.replace("名称\r\n".encode(plain), "姓名\r\n".encode(plain), 1)
    assert (tmp_path / "a.csv").read_bytes() == expected


async def test_an_edit_keeps_bytes_that_are_no_text(tmp_path: Path, controller: FileController) -> None:
    before = ("很多中文内容在这里\n" * 40).encode() + b"\xff\xfe\nend\n"
    (tmp_path / "a.log").write_bytes(before)
    answer = await controller.edit(context(), FileEdit(path="a.log", old="end", new="ende"))
    assert answer.success, answer.output
    assert (tmp_path / "a.log").read_bytes() == before.replace(b"end", b"ende")


@pytest.mark.parametrize("encoding", ["big5hkscs", "cp932"])
async def test_an_edit_keeps_the_second_form_of_a_character(
    tmp_path: Path, controller: FileController, encoding: str
) -> None:
    """Of some characters an encoding has two forms, of which Python writes only one."""
    second = b"\xed\x40" if encoding == "cp932" else b"\xa1\x5a"
    text = "東京都港区の会社員です" if encoding == "cp932" else "臺北市中正區的工程師與學生"
    before = (text + "\n").encode(encoding) * 20 + second + b"\nend\n"
    (tmp_path / "a.txt").write_bytes(before)
    answer = await controller.edit(context(), FileEdit(path="a.txt", old="end", new="ende"))
    assert answer.success, answer.output
    assert (tmp_path / "a.txt").read_bytes() == before.replace(b"end", b"ende")


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8-sig"])
async def test_a_file_that_is_written_anew_keeps_its_encoding(
    tmp_path: Path, controller: FileController, encoding: str
) -> None:
    write_table(tmp_path, encoding)
    answer = await controller.write(context(), FileWrite(path="a.csv", content="编号\n"))
    assert answer.success
    assert (tmp_path / "a.csv").read_bytes() == "编号\r\n".encode(encoding)
    assert ("GB18030" in answer.output) == (encoding == "gb18030")


async def test_what_the_encoding_lacks_is_refused_or_written_in_utf8(
    tmp_path: Path, controller: FileController
) -> None:
    before = ("編號,名稱,臺北市中正區的工程師與學生\n" * 3).encode("big5")
    (tmp_path / "a.csv").write_bytes(before)
    for answer in (
        await controller.append(context(), FileAppend(path="a.csv", content="🙂")),
        await controller.edit(context(), FileEdit(path="a.csv", old="名稱", new="🙂", replace_all=True)),
    ):
        assert not answer.success
        assert "Big5, which has no '🙂'" in answer.output
    assert (tmp_path / "a.csv").read_bytes() == before
    assert (await controller.write(context(), FileWrite(path="a.csv", content="🙂"))).success
    assert (tmp_path / "a.csv").read_text() == "🙂"


@pytest.mark.parametrize("content", ["报告\n", "¶"])
async def test_nothing_is_written_on_a_guess(tmp_path: Path, controller: FileController, content: str) -> None:
    before = "客户名单".encode("gb18030")
    (tmp_path / "a.txt").write_bytes(before)
    for answer in (
        await controller.append(context(), FileAppend(path="a.txt", content=content)),
        await controller.edit(context(), FileEdit(path="a.txt", old="客户", new=content)),
    ):
        assert not answer.success
        assert "may be in GB18030 or Big5 or " in answer.output
        assert "too little text to tell" in answer.output
        assert "iconv -f ENCODING -t UTF-8" in answer.output
    assert (tmp_path / "a.txt").read_bytes() == before


async def test_what_is_the_same_in_all_encodings_that_fit_is_written(
    tmp_path: Path, controller: FileController
) -> None:
    (tmp_path / "a.txt").write_bytes("客户名单: a".encode("gb18030"))
    assert (await controller.append(context(), FileAppend(path="a.txt", content="bc\n"))).success
    assert (await controller.edit(context(), FileEdit(path="a.txt", old="名单: a", new="名单: x"))).success
    assert (await controller.edit(context(), FileEdit(path="a.txt", old="客户", new="of "))).success
    assert (tmp_path / "a.txt").read_bytes() == "of 名单: xbc\n".encode("gb18030")


async def test_a_log_with_an_escape_sequence_of_japanese_mail_is_edited(
    tmp_path: Path, controller: FileController
) -> None:
    before = "很多中文内容 \x1b$B in a log\nend\n"
    (tmp_path / "a.log").write_text(before)
    answer = await controller.edit(context(), FileEdit(path="a.log", old="end", new="终"))
    assert answer.success, answer.output
    assert (tmp_path / "a.log").read_text() == before.replace("end", "终")


async def test_a_damaged_text_that_can_not_be_edited_is_told_to_be(tmp_path: Path, controller: FileController) -> None:
    before = ("こんにちは、世界\n" * 40).encode("iso2022_jp").replace(b"\x1b$B", b"\x1b$B\x20", 1)
    (tmp_path / "a.txt").write_bytes(before)
    answer = await controller.edit(context(), FileEdit(path="a.txt", old="世界", new="皆", replace_all=True))
    assert not answer.success
    assert "a part can't be edited. Write it again, or turn the file into UTF-8 first: iconv -f ISO-2022-JP" in (
        answer.output
    )
    assert (tmp_path / "a.txt").read_bytes() == before


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_read_and_a_preview_show_the_same_text(tmp_path: Path, encoding: str) -> None:
    write_table(tmp_path, encoding)
    said = (await read(tmp_path, "a.csv")).output
    remarks: dict[str, Any] = {"gb18030": "GB18030", "utf-16-le": "UTF-16LE"}
    remark = f"[text in {remarks[encoding]}, shown in UTF-8]\n" if encoding in remarks else ""
    assert said == remark + TABLE
    assert (await read(tmp_path, "a.csv", start_line=602)).output == remark + TABLE.splitlines(keepends=True)[601]
    shown = preview(Workspace(tmp_path), "a.csv")
    assert (shown.content, shown.binary, shown.encoding) == (TABLE, False, remarks.get(encoding, "UTF-8"))


async def test_a_preview_is_not_cut_in_the_middle_of_a_character(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("中文\n文".encode("gb18030") * MAX_PREVIEW_BYTES)
    shown = preview(Workspace(tmp_path), "a.txt")
    assert shown.truncated
    assert shown.content is not None
    assert "\ufffd" not in shown.content


async def test_nothing_is_added_to_a_binary_file(tmp_path: Path, controller: FileController) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x7fELF\0\0\1")
    for answer in (
        await controller.append(context(), FileAppend(path="a.bin", content="x")),
        await controller.edit(context(), FileEdit(path="a.bin", old="ELF", new="x")),
    ):
        assert (answer.success, answer.output) == (False, "a.bin is a binary file.")
    assert (tmp_path / "a.bin").read_bytes() == b"\x7fELF\0\0\1"
