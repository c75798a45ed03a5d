"""Files that a person edits, moves and deletes."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from contracts.files import MAX_TEXT_BYTES
from tool_api.errors import ConflictError, PathForbiddenError, PreconditionError, TooLargeError
from tool_api.files import editing
from tool_api.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(root)


def test_a_file_is_saved_as_long_as_it_is_as_it_was_read(root: Path, workspace: Workspace):
    (root / "a.py").write_text("one\r\n")
    read = editing.read_text(workspace, "a.py")
    assert (read.content, read.language, read.reason) == ("one\r\n", "python", None)
    saved = editing.save_text(workspace, "a.py", "two\r\n", read.etag)
    assert (root / "a.py").read_bytes() == b"two\r\n"
    assert saved.etag == editing.read_text(workspace, "a.py").etag
    with pytest.raises(PreconditionError):
        editing.save_text(workspace, "a.py", "three", read.etag)
    assert (root / "a.py").read_bytes() == b"two\r\n"


def test_a_deleted_file_is_not_brought_back_and_a_new_one_replaces_nothing(root: Path, workspace: Workspace):
    (root / "a.txt").write_text("one")
    etag = editing.read_text(workspace, "a.txt").etag
    (root / "a.txt").unlink()
    with pytest.raises(PreconditionError):
        editing.save_text(workspace, "a.txt", "two", etag)
    editing.save_text(workspace, "in/new.txt", "new", None)
    assert (root / "in" / "new.txt").read_text() == "new"
    with pytest.raises(PreconditionError):
        editing.save_text(workspace, "in/new.txt", "other", None)


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_file_keeps_its_mode_and_byte_order_mark(root: Path, workspace: Workspace, mark: bytes):
    file = root / "a.sh"
    file.write_bytes(mark + "größe".encode())
    file.chmod(0o755)
    read = editing.read_text(workspace, "a.sh")
    editing.save_text(workspace, "a.sh", f"{read.content}!", read.etag)
    assert file.read_bytes() == mark + "größe!".encode()
    assert file.stat().st_mode & 0o777 == 0o755


def test_a_file_in_another_encoding_stays_in_it(root: Path, workspace: Workspace):
    text = "今天天气很好，我们去公园散步吧。这是一个用来测试编码的句子。\n" * 5
    (root / "a.txt").write_bytes(text.encode("gb18030"))
    read = editing.read_text(workspace, "a.txt")
    assert (read.content, read.encoding) == (text, "GB18030")
    editing.save_text(workspace, "a.txt", f"新{text}", read.etag)
    assert (root / "a.txt").read_bytes() == f"新{text}".encode("gb18030")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00\x01\x02\xff" * 100, "binary"),
        (b"x" * (MAX_TEXT_BYTES + 1), "too_large"),
        (b"plain text of a file with one odd byte \xff in it\n" * 3 + "größe ".encode() * 40, "encoding"),
    ],
)
def test_what_cannot_be_edited_says_why(root: Path, workspace: Workspace, data: bytes, reason: str):
    (root / "a").write_bytes(data)
    read = editing.read_text(workspace, "a")
    assert (read.content, read.etag, read.reason) == (None, None, reason)


def test_a_text_over_the_limit_is_refused(root: Path, workspace: Workspace):
    with pytest.raises(TooLargeError):
        editing.save_text(workspace, "a", "ü" * (MAX_TEXT_BYTES // 2 + 1), None)
    assert list(root.iterdir()) == []


def test_moving_makes_folders_and_replaces_nothing(root: Path, workspace: Workspace):
    (root / "a.txt").write_text("one")
    (root / "b.txt").write_text("two")
    with pytest.raises(ConflictError):
        editing.move(workspace, "a.txt", "b.txt")
    assert editing.move(workspace, "a.txt", "in/deep/a.txt") == ("a.txt", "in/deep/a.txt")
    assert (root / "in" / "deep" / "a.txt").read_text() == "one"
    with pytest.raises(ConflictError):
        editing.move(workspace, "in", "in/deep/in")


def test_a_folder_is_made_once_and_deleted_with_all_in_it(root: Path, workspace: Workspace):
    assert editing.make_folder(workspace, "one/two") == "one/two"
    with pytest.raises(ConflictError):
        editing.make_folder(workspace, "one/two")
    (root / "one" / "two" / "a").write_text("x")
    assert editing.delete(workspace, "one") == "one"
    assert list(root.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        editing.delete(workspace, "one")


def test_links_are_moved_and_deleted_themselves(root: Path, workspace: Workspace, tmp_path: Path):
    outside = tmp_path / "outside.txt"
    outside.write_text("keep")
    (root / "link").symlink_to(outside)
    with pytest.raises(PathForbiddenError):
        editing.save_text(workspace, "link", "mine", "none")
    with pytest.raises(PathForbiddenError):
        editing.read_text(workspace, "link")
    editing.move(workspace, "link", "other")
    editing.delete(workspace, "other")
    assert outside.read_text() == "keep"


@pytest.mark.parametrize("path", [".", "", "/", "..", "../x", ".agent/x", "in/../.agent/x", "a\0b"])
def test_the_workspace_and_records_of_the_agent_are_not_changed(root: Path, workspace: Workspace, path: str):
    (root / ".agent").mkdir()
    (root / ".agent" / "x").write_text("record")
    (root / "in").mkdir()
    (root / "a.txt").write_text("one")
    for change in (
        lambda: editing.delete(workspace, path),
        lambda: editing.move(workspace, path, "elsewhere"),
        lambda: editing.move(workspace, "a.txt", path),
        lambda: editing.save_text(workspace, path, "", None),
    ):
        with pytest.raises(PathForbiddenError):
            change()
    assert (root / ".agent" / "x").read_text() == "record"
