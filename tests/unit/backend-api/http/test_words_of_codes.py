"""Every code the gateway may answer or record has words in each language of the page, which English texts are not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from backend_api.kit.http_address import AddressFault
from backend_api.mcp.domain.entity import McpCause
from backend_api.mcp.http.mcp import McpCode
from backend_api.schedules.ports import CronFault

ROOT = Path(__file__).resolve().parents[4]
_FOLDERS = ("backend-api", "contracts", "service-kit")
_CODE = re.compile(r"\bcode ?= ?\"([a-z_]+)\"")


def codes() -> set[str]:
    """All codes written down in the sources."""
    files = [file for folder in _FOLDERS for file in (ROOT / folder / "src").rglob("*.py")]
    return {code for file in files for code in _CODE.findall(file.read_text(encoding="utf-8"))}


def words_in(file: str) -> set[str]:
    text = (ROOT / "frontend" / "src" / "i18n" / file).read_text(encoding="utf-8")
    return set(re.findall(r"^\s+([a-z0-9_]+):\s", text, flags=re.MULTILINE))


def test_the_page_has_chinese_words_for_every_code_of_the_gateway() -> None:
    found = codes()
    assert {"disk_full", "limit", "model_auth", "token_budget"} <= found, "the codes are written otherwise by now"
    assert found - words_in("zhProblems.ts") - words_in("zh.ts") == set()


def test_why_an_mcp_server_cannot_be_used_has_a_code_with_chinese_words() -> None:
    assert {f"mcp_{cause}" for cause in get_args(McpCause)} == set(get_args(McpCode))
    assert set(get_args(McpCode)) - words_in("zhProblems.ts") == set()


def test_what_is_wrong_with_a_cron_line_has_chinese_words() -> None:
    assert set(get_args(CronFault)) - words_in("zhProblems.ts") == set()


def test_what_is_wrong_with_the_address_of_an_mcp_server_has_chinese_words() -> None:
    assert {f"mcp_url_{fault}" for fault in get_args(AddressFault)} - words_in("zhProblems.ts") == set()
