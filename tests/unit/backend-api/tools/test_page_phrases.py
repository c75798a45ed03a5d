"""The page has words of its own for every tool there is; it may have some for a tool that this gateway lacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.modules import known_tools

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_tool_is_spoken_of_in_the_language_of_the_page(language: str) -> None:
    words = (ROOT / "frontend" / "src" / "i18n" / f"{language}Phrases.ts").read_text(encoding="utf-8")
    spoken_of = re.findall(r"^  (\w+): \{", words, re.MULTILINE)
    assert [tool.name for tool in known_tools() if tool.name not in spoken_of] == []
