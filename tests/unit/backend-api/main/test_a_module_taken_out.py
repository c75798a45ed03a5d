"""A module that is deleted with its line in the list leaves a gateway whose types hold and that starts without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[4]
_SOURCES = ("backend-api/src", "contracts/src", "service-kit/src", "scripts/local_stack", "tests/support")
_LIST = "backend-api/src/backend_api/main/modules.py"
_LEFT = """\
import json
from backend_api.kit.http.ports import WebOptions
from backend_api.main.app import describe_app
from backend_api.main.modules import MODULES
paths = describe_app(WebOptions()).openapi()["paths"]
print(json.dumps([[one.name for one in MODULES], list(paths)]))
"""


def copied_without(module: str, place: Path) -> None:
    """The sources without the folder of the module, its line in the list, and what tests know of it alone."""
    for folder in _SOURCES:
        shutil.copytree(ROOT / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place)
    shutil.rmtree(place / "backend-api/src/backend_api" / module)
    lines = (place / _LIST).read_text(encoding="utf-8").splitlines(keepends=True)
    left = [line for line in lines if f"{module}.module" not in line and line.strip() != f"{module.upper()},"]
    assert len(lines) - len(left) == 2
    (place / _LIST).write_text("".join(left), encoding="utf-8")
    for folder in ("of_modules", "memory"):
        (place / "tests/support" / folder / f"{module}.py").unlink()


@pytest.mark.parametrize("module", ["memories"])
def test_without_its_folder_and_its_line_the_types_hold_and_the_rest_is_there(module: str, tmp_path: Path) -> None:
    copied_without(module, tmp_path)
    paths = os.pathsep.join(str(tmp_path / folder) for folder in _SOURCES[:3])
    left = subprocess.run(
        [sys.executable, "-c", _LEFT], env=os.environ | {"PYTHONPATH": paths}, capture_output=True, check=False
    )
    assert left.returncode == 0, left.stderr.decode()
    modules, routes = json.loads(left.stdout)
    assert module not in modules
    assert (f"/api/{module}" in routes, "/api/skills" in routes) == (False, True)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    checker = Path(sys.executable).with_name("basedpyright")
    types = subprocess.run(
        [checker, "--warnings", "backend-api/src", "tests/support/of_modules"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert types.returncode == 0, types.stdout.decode()[-4000:]
