"""Folders of exports: gone with them, and with the next one where their process was killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from backend_api.writing.programs.folders import work_folder

HOLDS = """
import sys, time
from pathlib import Path
from backend_api.writing.programs.folders import work_folder
with work_folder(Path(sys.argv[1])) as folder:
    (folder / "s0.md").write_text("Text.")
    print(folder, flush=True)
    time.sleep(600)
"""


def held_by_another(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    program = subprocess.Popen([sys.executable, "-c", HOLDS, str(parent)], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    return program, Path(program.stdout.readline().strip())


def test_those_of_a_killed_process_are_removed_by_the_next_one_and_those_in_use_stay(tmp_path: Path) -> None:
    dead, left = held_by_another(tmp_path)
    other, in_use = held_by_another(tmp_path)
    try:
        dead.kill()
        dead.wait(10)
        assert (left / "s0.md").exists()
        with work_folder(tmp_path) as first, work_folder(tmp_path) as second:
            assert not left.exists()
            assert (in_use / "s0.md").exists()
            assert first.is_dir()
            assert second.is_dir()
        assert list(tmp_path.iterdir()) == [in_use]
    finally:
        for program in (dead, other):
            program.kill()
            program.wait(10)
            assert program.stdout is not None
            program.stdout.close()


def test_what_has_no_lock_of_ours_stays(tmp_path: Path) -> None:
    (tmp_path / "export-photos").mkdir()
    (tmp_path / "export-photos" / "cat.jpg").write_text("")
    (tmp_path / "export-list.txt").write_text("")
    away = tmp_path / "away"
    away.mkdir()
    (away / ".export-lock").write_text("")
    (tmp_path / "export-link").symlink_to(away)
    with work_folder(tmp_path):
        pass
    assert (tmp_path / "export-photos" / "cat.jpg").exists()
    assert (tmp_path / "export-list.txt").exists()
    assert (away / ".export-lock").exists()
