"""Names of the tools of MCP servers: within what providers take, and never two alike."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend_api.mcp.domain.entity import NAME, public_name

SERVERS = st.from_regex(NAME, fullmatch=True)
TOOLS = st.text(min_size=1, max_size=100)


@given(SERVERS, TOOLS)
@example("box", "a" * 54)
@example("box", "a" * 55)
@example("box", "读" * 100)
def test_each_is_one_that_every_provider_takes(server: str, tool: str) -> None:
    assert re.fullmatch(r"mcp__[a-zA-Z0-9_-]{1,59}", public_name(server, tool))
    assert public_name(server, tool).startswith(f"mcp__{server}__")


@given(SERVERS, TOOLS, SERVERS, TOOLS)
def test_no_two_are_alike(server: str, tool: str, other: str, another: str) -> None:
    if (server, tool) != (other, another):
        assert public_name(server, tool) != public_name(other, another)


@pytest.mark.parametrize(
    ("one", "other"),
    [("get.item", "get_item"), ("读取", "写入"), ("a" * 80, "a" * 81), ("x" * 70 + "1", "x" * 70 + "2")],
)
def test_what_is_cut_or_written_otherwise_is_told_apart(one: str, other: str) -> None:
    assert public_name("box", one) != public_name("box", other)


def test_one_that_fits_is_kept_as_it_is() -> None:
    assert public_name("my-box_2", "get_item-now") == "mcp__my-box_2__get_item-now"


@pytest.mark.parametrize("name", ["", "a__b", "_a", "a_", "a b", "a/b", "x" * 33, "é", "a\n"])
def test_names_of_servers_that_would_make_names_of_tools_alike_are_none(name: str) -> None:
    assert not NAME.fullmatch(name)
