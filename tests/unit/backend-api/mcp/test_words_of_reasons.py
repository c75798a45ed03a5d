"""Why an MCP server can't be used stands in the page's language where the page has the server's exact words."""

from __future__ import annotations

import pytest

from backend_api.infrastructure.mcp.guarded_transport import NO_SERVER, NOT_ALLOWED
from backend_api.infrastructure.mcp.session import ENDED, NO_ANSWER
from support.sources import ROOT


@pytest.mark.parametrize("reason", [NOT_ALLOWED, NO_SERVER, NO_ANSWER, ENDED])
def test_the_page_has_the_words_of_the_server(reason: str) -> None:
    assert f"'{reason}'" in (ROOT / "frontend/src/i18n/en.ts").read_text()
