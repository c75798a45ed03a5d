"""Pages of the documentation name files that exist, and what is in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


GUIDES = sorted(path.relative_to(ROOT).as_posix() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
DECISIONS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/decisions").glob("*.md"))
_SOURCES = (
    "backend-api",
    "bench",
    "contracts",
    "frontend/scripts",
    "frontend/src",
    "requirements",
    "sandbox-manager",
    "scripts",
    "service-kit",
    "tests",
    "tool-api",
)
_FILE = r"[\w{][\w/.{},-]*\.(?:py|ts|vue|toml|in|sh)"
_SNIPPET = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def sources() -> list[str]:
    """The paths of all files that pages speak of."""
    found = [path for part in _SOURCES for path in (ROOT / part).rglob("*.*") if "node_modules" not in path.parts]
    return [f"/{path.relative_to(ROOT).as_posix()}" for path in [*found, *ROOT.glob("*.*")]]


def test_each_file_and_part_of_one_that_a_page_names_is_there(sources: list[str]) -> None:
    for page in GUIDES:
        assert_files_are_there(page, sources)


def assert_files_are_there(page: str, sources: list[str]) -> None:
    text = _SNIPPET.sub("", (ROOT / page).read_text(encoding="utf-8"))
    named = [
        *re.findall(rf"`({_FILE})(?:::(\w+))?`", text),
        *((file, part) for part, file in re.findall(rf"`(\w+)`\s+(?:of|in)\s+`({_FILE})`", text)),
    ]
    assert len(named) > (50 if page == "docs/adding-things.md" else -1), "files are named otherwise by now"
    for file, part in named:
        for one in _each(file):
            found = [path for path in sources if path.endswith(f"/{one}")]
            assert any(re.search(rf"\b{part}\b", (ROOT / path[1:]).read_text()) for path in found), (one, part)


def _each(file: str) -> list[str]:
    """`{en,zh}.ts` are two."""
    before, _, rest = file.partition("{")
    choices, _, after = rest.rpartition("}")
    return [f"{before}{choice}{after}" for choice in choices.split(",")]


def test_each_link_of_a_page_leads_to_a_file_and_a_heading() -> None:
    for page in [*GUIDES, *DECISIONS]:
        assert_links_lead_somewhere(page)


def assert_links_lead_somewhere(page: str) -> None:
    text = _SNIPPET.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for target, heading in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        led = (ROOT / page).parent / target if target else ROOT / page
        assert led.exists(), (page, target)
        assert not heading or heading in _headings(led), f"{target}#{heading}"


def _headings(page: Path) -> set[str]:
    """As links name them: small letters, digits, hyphens."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}
