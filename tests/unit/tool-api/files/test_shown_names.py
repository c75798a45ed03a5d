"""Names on a disk as text, and found again by it."""

from __future__ import annotations

import os
import time
import unicodedata
from pathlib import Path

import pytest

from tool_api.errors import PathForbiddenError
from tool_api.files.listing import list_entries, preview
from tool_api.shown_names import shown_name, shown_names
from tool_api.tools.files.folders import find_files, list_folder
from tool_api.workspace import Workspace


def make(root: Path, name: bytes, text: str = "x") -> None:
    fd = os.open(os.path.join(os.fsencode(root), name), os.O_CREAT | os.O_WRONLY, 0o644)
    os.write(fd, text.encode())
    os.close(fd)


def read(root: Path, path: str) -> str:
    with Workspace(root).locate(path) as place, os.fdopen(place.open()) as file:
        return file.read()


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("测试.txt", "gb18030"),
        ("销售数据报告", "gb18030"),
        ("東京都の資料.txt", "cp932"),
        ("отчёт за год.doc", "cp1251"),
    ],
)
def test_a_name_in_another_encoding_is_listed_found_and_opened(tmp_path: Path, name: str, encoding: str) -> None:
    make(tmp_path, name.encode(encoding), "inside")
    make(tmp_path, b"plain.txt")
    workspace = Workspace(tmp_path)
    assert {entry.name for entry in list_entries(workspace, "")} == {name, "plain.txt"}
    with workspace.locate(".") as place:
        assert set(list_folder(place)[0]) == {name, "plain.txt"}
        assert find_files(place, f"{name[0]}*") == ([name], False)
    assert read(tmp_path, name) == "inside"
    assert preview(workspace, name).content == "inside"


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp1251", "план.doc отчёт.doc счёт Москва.txt приказ договор.doc список_клиентов.xls Смета_за_год.doc"),
        ("cp1252", "Größe.txt Straße Übersicht.doc Büro.txt Müller.pdf café.txt señor.txt où.doc été élève.txt"),
        ("gb18030", "列表 运行.txt 论文.doc 任务.txt 模型 输出.log 类型.txt 报告.doc 数据 测试.txt 新建文件夹"),
        ("cp949", "보고서.doc 자료 테스트.txt 고객명단.xls"),
    ],
)
def test_short_names_are_shown_as_they_were_written(encoding: str, names: str) -> None:
    for name in names.split():
        assert shown_name(os.fsdecode(name.encode(encoding))) == name


def test_many_names_of_one_folder_are_told_apart_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown_at_once(name: str) -> str:
        return name.removeprefix("\udcb2")

    monkeypatch.setattr("tool_api.shown_names.shown_name", shown_at_once)
    names = [f"\udcb2{number}" for number in range(50_000)]
    began = time.process_time()
    shown = shown_names([*names, "7"])
    assert time.process_time() - began < 10
    assert (shown[7], shown[8]) == (r"\xb27", "8")


def test_a_folder_in_another_encoding_is_gone_through(tmp_path: Path) -> None:
    os.mkdir(os.path.join(os.fsencode(tmp_path), "数据".encode("gb18030")))
    make(tmp_path, "数据/报告.txt".encode("gb18030"), "inside")
    assert read(tmp_path, "数据/报告.txt") == "inside"
    with Workspace(tmp_path).locate("数据/报告.txt") as place:
        assert place.path == "数据/报告.txt"
        place.write(b"changed")
    assert os.listdir(os.fsencode(tmp_path)) == ["数据".encode("gb18030")]
    assert read(tmp_path, "数据/报告.txt") == "changed"


def test_two_names_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    make(tmp_path, "测试.txt".encode(), "utf-8")
    make(tmp_path, "测试.txt".encode("gb18030"), "gb18030")
    with Workspace(tmp_path).locate(".") as place:
        shown = list_folder(place)[0]
    assert sorted(shown) == [r"\xb2\xe2\xca\xd4.txt", "测试.txt"]
    assert read(tmp_path, "测试.txt") == "utf-8"
    assert read(tmp_path, r"\xb2\xe2\xca\xd4.txt") == "gb18030"


@pytest.mark.parametrize(("on_disk", "asked"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_name_is_found_however_its_accents_are_composed(tmp_path: Path, on_disk: str, asked: str) -> None:
    name = "Résumé 한국어.txt"
    written = unicodedata.normalize(on_disk, name)  # type: ignore[arg-type]
    (tmp_path / written).write_text("inside")
    wanted = unicodedata.normalize(asked, name)  # type: ignore[arg-type]
    assert read(tmp_path, wanted) == "inside"
    with Workspace(tmp_path).locate(wanted) as place:
        assert find_files_in(tmp_path, wanted[:4] + "*") == [written]
        place.write(b"changed")
    assert [one.name for one in tmp_path.iterdir()] == [written]


def find_files_in(root: Path, pattern: str) -> list[str]:
    with Workspace(root).locate(".") as place:
        return find_files(place, pattern)[0]


def test_of_two_names_with_one_text_the_one_asked_for_is_taken(tmp_path: Path) -> None:
    for form in ("NFC", "NFD"):
        (tmp_path / unicodedata.normalize(form, "é")).write_text(form)  # type: ignore[arg-type]
    assert read(tmp_path, unicodedata.normalize("NFC", "é")) == "NFC"
    assert read(tmp_path, unicodedata.normalize("NFD", "é")) == "NFD"


def test_a_link_with_such_a_name_leads_nowhere_else(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").write_text("x")
    os.symlink("../outside", os.path.join(os.fsencode(root), "链接".encode("gb18030")))
    with pytest.raises(PathForbiddenError):
        read(root, "链接")


def test_what_can_be_read_in_no_encoding_is_shown_by_its_bytes() -> None:
    assert shown_name(os.fsdecode(b"a\x81\x01")) == r"a\x81" + "\x01"
    assert shown_names(["a", "é"]) == ["a", "é"]
