"""Results of tools of MCP servers."""

from __future__ import annotations

from mcp_types import CallToolResult, TextContent

from backend_api.application.runs.masking import Mask
from backend_api.infrastructure.mcp.results import to_done


def answered(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])


def test_what_a_program_drew_is_told_as_a_terminal_shows_it_and_kept_as_it_came() -> None:
    drawn = "\x1b[32m1 %\x1b[0m\r\x1b[K\x1b[32m100 %\x1b[0m\n"
    done = to_done(answered(drawn), Mask([]))
    assert (done.output, done.body) == ("100 %\n", drawn.encode())


def test_text_without_escape_sequences_stays_as_it_came() -> None:
    done = to_done(answered("a\r\nb\tc\r"), Mask([]))
    assert (done.output, done.body) == ("a\r\nb\tc\r", None)
