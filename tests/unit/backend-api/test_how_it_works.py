"""The walks through the code name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in ("how-it-works", "how-the-agent-works")}


@pytest.mark.parametrize("page", [*PAGES, "adding-things", "agent-tests", "security"])
def test_each_file_and_function_a_page_names_is_there(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    named = re.findall(r"`([\w/.-]+\.py)(?:::\w+)?`", text)
    source = ROOT / "backend-api" / "src" / "backend_api"
    parts = ("*/src", "bench", "scripts", "tests")
    found = [path.relative_to(ROOT).as_posix() for part in parts for path in ROOT.glob(f"{part}/**/*.py")]
    assert len(named) > 20
    for name in named:
        assert (source / name).is_file() or any(f"/{path}".endswith(f"/{name}") for path in found), name
    for name, function in re.findall(r"`([\w/.-]+\.py)::(\w+)`", text):
        source_text = "".join((ROOT / path).read_text() for path in found if f"/{path}".endswith(f"/{name}"))
        assert f"def {function}(" in source_text, (name, function)


@pytest.mark.parametrize(
    ("page", "path", "most"),
    [
        ("how-it-works", "A message to the model", 9),
        ("how-it-works", "A delta to the page", 7),
        ("how-it-works", "A tool call to the sandbox and back", 9),
        ("how-the-agent-works", "One turn", 7),
    ],
)
def test_a_path_passes_no_more_files(page: str, path: str, most: int) -> None:
    """Each step is a file, or several of which one is passed."""
    _, _, rest = PAGES[page].partition(f"\n## {path}\n")
    section = re.split(r"\n##+ ", rest)[0]
    steps = re.findall(r"^(\d+)\. (?:In [^`]*|[aA]nd )?`[^`]+`", section, re.MULTILINE)
    assert steps == [str(number) for number in range(1, len(steps) + 1)]
    assert 3 < len(steps) <= most


@pytest.mark.parametrize("page", PAGES)
def test_the_readme_leads_to_the_page(page: str) -> None:
    assert f"(docs/{page}.md)" in (ROOT / "README.md").read_text()
