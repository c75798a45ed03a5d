"""Results of tools of MCP servers."""

from __future__ import annotations

from mcp_types import CallToolResult, TextContent

from backend_api.application.runs.masking import Mask
from backend_api.domain.agent.tool_runner import MAX_OUTPUT_CHARACTERS
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


def test_a_long_text_is_cut_before_it_is_drawn_and_kept_as_it_came() -> None:
    drawn = "\x1b[32mfirst\x1b[0m\n" + "x" * 3_900_000 + "\n1 %\r2 %\n"
    done = to_done(answered(drawn), Mask([]))
    assert len(done.output) <= MAX_OUTPUT_CHARACTERS
    assert done.output.startswith("first\nxxx")
    assert done.output.endswith("xxx\n2 %\n")
    assert "characters left out" in done.output
    assert done.body == drawn.encode()
