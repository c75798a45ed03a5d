"""The skills of the product and of a deployment's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backend_api.main.settings import SettingsError
from backend_api.skills.library.library import PRODUCT, SkillFolderError, read_library
from support.planned import local_plan

TEXT = "---\nname: {name}\ndescription: {description}\n---\nDo it.\n"
BUNDLED = {
    "code-review",
    "data-analysis",
    "documents",
    "pdf",
    "slides",
    "spreadsheets",
    "web-page",
    "web-research",
}


def add(folder: Path, name: str, description: str = "Ours.") -> Path:
    (folder / name).mkdir()
    (folder / name / "SKILL.md").write_text(TEXT.format(name=name, description=description))
    return folder / name


def test_those_of_the_product_are_there_and_name_programs_that_are() -> None:
    library = read_library()
    assert {entry.name for entry in library.entries()} >= BUNDLED
    for entry in library.entries():
        skill = library.get(entry.name)
        assert skill is not None
        for path in skill.paths:
            if path.startswith("scripts/"):
                assert f"/skills/{skill.name}/{path}" in skill.instructions
        assert all(named in skill.instructions for named in [f"/skills/{skill.name}/"] if len(skill.paths) > 1)
        assert entry.origin == "bundled"


def test_a_folder_adds_others_and_has_its_own_of_the_same_name(tmp_path: Path) -> None:
    add(tmp_path, "pdf")
    add(tmp_path, "knots")
    (tmp_path / "README.md").write_text("no skill")
    entries = {entry.name: entry for entry in read_library(tmp_path).entries()}
    assert entries["knots"].origin == entries["pdf"].origin == "deployment"
    assert entries["pdf"].description == "Ours."
    assert entries["slides"].origin == "bundled"
    assert list(entries) == sorted(entries)


def test_what_is_wrong_refuses_the_start_with_the_folder_and_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skills = tmp_path / "skills"
    skills.mkdir()
    place = add(skills, "knots")
    (place / "SKILL.md").write_text("no head")
    with pytest.raises(SkillFolderError, match=r"knots: SKILL\.md must begin with"):
        read_library(skills)
    (place / "SKILL.md").write_text(TEXT.format(name="other", description="x"))
    with pytest.raises(SkillFolderError, match="its folder has another name"):
        read_library(skills)
    (place / "SKILL.md").write_text(TEXT.format(name="knots", description="x"))
    os.symlink("/etc/passwd", place / "x")
    monkeypatch.setenv("SKILLS_DIR", str(skills))
    with pytest.raises(SettingsError, match="neither a file nor a folder"):
        local_plan(monkeypatch, tmp_path)
    (place / "x").unlink()
    (place / "big").write_bytes(bytes(9 * 1024 * 1024))
    with pytest.raises(SkillFolderError, match="more than 100 files or"):
        read_library(skills)
    with pytest.raises(SkillFolderError, match="can't be read"):
        read_library(tmp_path / "nowhere")


def test_no_program_of_the_product_needs_more_than_python_or_a_shell() -> None:
    programs = list(PRODUCT.glob("*/scripts/*"))
    assert len(programs) > 8
    assert {path.suffix for path in programs if path.is_file()} <= {".py", ".sh"}
