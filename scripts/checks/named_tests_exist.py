"""Every test that a page of the documentation names exists, and every folder of tests."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "docs/security.md",
    "docs/agent-tests.md",
    *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs/decisions").glob("*.md")),
)
_NAMED = re.compile(r"`([\w./-]*?)(?:::(\w+))?`")


def missing(page: str) -> list[str]:
    """What is named there and is not. `::name` alone goes on with the file named before it."""
    places = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "tests").rglob("test_*.py")}
    found: list[str] = []
    text = ""
    for file, name in _NAMED.findall((ROOT / page).read_text(encoding="utf-8")):
        if file.endswith(".py") and Path(file).name.startswith("test_"):
            texts = [
                path.read_text(encoding="utf-8") for place, path in places.items() if f"/{place}".endswith(f"/{file}")
            ]
            if not texts:
                found.append(file)
            text = "\n".join(texts)
        elif file.startswith("tests/") and not (ROOT / file).exists():
            found.append(file)
        if name and not re.search(rf"^(async )?def {name}\(", text, re.MULTILINE):
            found.append(f"{file}::{name}")
    return found


def main() -> int:
    gone = [(page, name) for page in PAGES for name in missing(page)]
    for page, name in gone:
        print(f"{page} names a test that is not there: {name}")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
