"""Tests use fakes; nobody patches our own code."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report, tracked_files

_BANNED = ("unittest.mock", "mock", "pytest_mock")


def imported(tree: ast.AST) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def main() -> int:
    findings = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in tracked_files()
        if path.suffix == ".py"
        for line, name in imported(ast.parse(path.read_text(encoding="utf-8")))
        if any(name == banned or name.startswith(banned + ".") for banned in _BANNED)
    ]
    return report("imports a mocking library; write a fake", findings)


if __name__ == "__main__":
    sys.exit(main())
