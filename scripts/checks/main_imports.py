"""No file of the gateway's `main/` imports more than 25 modules of ours: what puts the parts together names modules,
and not what is inside them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report

MOST = 25
MAIN = ROOT / "backend-api/src/backend_api/main"
OURS = ("backend_api", "contracts", "service_kit")


def main() -> int:
    numbers = {path: len(modules_of(path)) for path in sorted(MAIN.rglob("*.py"))}
    findings = [f"{path.relative_to(ROOT)}: {number}" for path, number in numbers.items() if number > MOST]
    return report(f"imports more than {MOST} modules of ours", findings)


def modules_of(path: Path) -> set[str]:
    """The modules of ours that a file imports, each once."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return {name for name in found if name.startswith(".") or name.split(".")[0] in OURS}


if __name__ == "__main__":
    sys.exit(main())
