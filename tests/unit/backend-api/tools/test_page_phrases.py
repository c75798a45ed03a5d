"""The page has words of its own for every tool there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SOURCES = [
    *ROOT.glob("tool-api/src/tool_api/tools/*/tools.py"),
    *ROOT.glob("backend-api/src/backend_api/*/tools/*.py"),
    *ROOT.glob("backend-api/src/backend_api/*/*tools.py"),
]
_NAME = re.compile(r"""^ +name="(\w+)",$""", re.MULTILINE)
_PHRASE = re.compile(r"""^ +phrase=".+",$""", re.MULTILINE)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_tool_is_spoken_of_in_the_language_of_the_page(language: str) -> None:
    texts = [source.read_text(encoding="utf-8") for source in SOURCES]
    names = {name for text in texts for name in _NAME.findall(text)} | {"think"}
    assert len(names) == sum(len(_PHRASE.findall(text)) for text in texts) > 20
    words = (ROOT / "frontend" / "src" / "i18n" / f"{language}Phrases.ts").read_text(encoding="utf-8")
    assert sorted(names) == sorted(re.findall(r"^  (\w+): \{", words, re.MULTILINE))
