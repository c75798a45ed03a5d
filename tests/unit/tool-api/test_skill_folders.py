"""Folders of skills in a sandbox: whole or not at all."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path

import pytest

from tool_api.errors import ConflictError, InvalidUploadError, TooLargeError
from tool_api.skills.folders import MAX_BYTES, MAX_FILES, put_skill


def packed(**files: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


def test_it_is_put_there_closed_and_replaced_whole(tmp_path: Path) -> None:
    first = packed(**{"SKILL.md": b"Do.", "scripts/run.py": b"#!/usr/bin/env python3\n", "scripts/old": b"x"})
    assert put_skill(tmp_path, "knots", first) == str(tmp_path / "knots")
    program = tmp_path / "knots/scripts/run.py"
    assert stat.S_IMODE(program.stat().st_mode) == 0o555
    assert stat.S_IMODE((tmp_path / "knots/SKILL.md").stat().st_mode) == 0o444
    assert stat.S_IMODE((tmp_path / "knots/scripts").stat().st_mode) == 0o555
    put_skill(tmp_path, "knots", packed(**{"SKILL.md": b"New."}))
    assert [path.name for path in (tmp_path / "knots").rglob("*")] == ["SKILL.md"]
    assert [path.name for path in tmp_path.iterdir()] == ["knots"]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a/"])
def test_what_leads_out_is_refused_and_what_was_there_stays(tmp_path: Path, name: str) -> None:
    put_skill(tmp_path, "knots", packed(**{"SKILL.md": b"Do."}))
    with pytest.raises(InvalidUploadError):
        put_skill(tmp_path, "knots", packed(**{"SKILL.md": b"x", name: b"x"}))
    assert (tmp_path / "knots/SKILL.md").read_bytes() == b"Do."
    assert [path.name for path in tmp_path.iterdir()] == ["knots"]


def test_what_is_too_large_or_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TooLargeError):
        put_skill(tmp_path, "a", packed(zeros=bytes(MAX_BYTES + 1)))
    with pytest.raises(TooLargeError):
        put_skill(tmp_path, "a", packed(**{f"f{at}": b"" for at in range(MAX_FILES + 1)}))
    with pytest.raises(InvalidUploadError):
        put_skill(tmp_path, "a", b"no archive")
    for name in ("..", "a/b", "A", ""):
        with pytest.raises(InvalidUploadError):
            put_skill(tmp_path, name, packed(a=b""))
    with pytest.raises(ConflictError):
        put_skill(tmp_path / "nowhere", "a", packed(a=b""))
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_its_place_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    root, kept = tmp_path / "skills", tmp_path / "kept"
    root.mkdir()
    kept.mkdir()
    (kept / "file").write_text("mine")
    os.symlink(kept, root / "knots")
    put_skill(root, "knots", packed(**{"SKILL.md": b"Do."}))
    assert (kept / "file").read_text() == "mine"
    assert not (root / "knots").is_symlink()
