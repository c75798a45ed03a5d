"""Domain and application import the standard library, themselves, and what watches them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "backend-api" / "src"
OBSERVATION = SOURCE.parents[1] / "contracts" / "src" / "contracts" / "observation"
CORE = sorted(path for layer in ("domain", "application") for path in (SOURCE / "backend_api" / layer).rglob("*.py"))
ALLOWED = ("backend_api.domain", "backend_api.application", "contracts.observation")


def imported(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_core_is_pure(path: Path) -> None:
    strangers = [
        name
        for name in imported(path)
        if name.partition(".")[0] not in sys.stdlib_module_names and not name.startswith(ALLOWED)
    ]
    assert strangers == []


@pytest.mark.parametrize("path", sorted(OBSERVATION.glob("*.py")), ids=lambda path: path.name)
def test_what_watches_the_core_imports_the_standard_library_alone(path: Path) -> None:
    names = [name for name in imported(path) if not name.startswith("contracts.observation")]
    assert [name for name in names if name.partition(".")[0] not in sys.stdlib_module_names] == []
