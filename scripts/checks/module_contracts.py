"""Each module in the gateway's list of modules is held by the contracts of import-linter to what all others are held
to."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report

LIST = "backend_api.main.modules"
_FILE = ROOT / "backend-api/src" / Path(*LIST.split(".")).with_suffix(".py")
_INWARD = "Backend: dependencies point inward in each context"
_ONE_LINE = "Backend: a module is one line in the list of modules"


def main() -> int:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    findings = [finding for module in listed_modules() for finding in missing(module, contracts)]
    return report("lacks a line in pyproject.toml", findings)


def listed_modules() -> list[str]:
    """The packages whose modules the list imports."""
    imports = [
        node for node in ast.walk(ast.parse(_FILE.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    names = [node.module for node in imports if node.module is not None]
    return [name.removesuffix(".module") for name in names if name.endswith(".module") and name.count(".") > 1]


def missing(module: str, contracts: list[dict[str, Any]]) -> Iterator[str]:
    """What to add for a module."""
    layered = [one for one in contracts if one["type"] == "layers"]
    if not any(module in one.get("containers", ()) for one in layered):
        yield f'{module}: add "{module}" to `containers` of "{_INWARD}", or a contract with layers of its own'
    (one_line,) = [one for one in contracts if one["name"] == _ONE_LINE]
    if module not in one_line["forbidden_modules"]:
        yield f'{module}: add "{module}" to `forbidden_modules` of "{_ONE_LINE}"'
    exception = f"{LIST} -> {module}.module"
    if exception not in one_line["ignore_imports"]:
        yield f'{module}: add "{exception}" to `ignore_imports` of "{_ONE_LINE}"'


if __name__ == "__main__":
    sys.exit(main())
