"""Addresses as the model writes them."""

from __future__ import annotations

import pytest

from tool_api.tools.browser.addresses import AddressError, address_of, why_unreachable


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("example.org", "https://example.org"),
        (" example.org/a?b=c ", "https://example.org/a?b=c"),
        ("http://example.org", "http://example.org"),
        ("localhost:3000/x", "http://localhost:3000/x"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("example.org:8443", "https://example.org:8443"),
        ("/workspace/report.html", "file:///workspace/report.html"),
        ("about:blank", "about:blank"),
        ("data:text/html,hi", "data:text/html,hi"),
        ("例え.jp", "https://例え.jp"),
    ],
)
def test_what_people_write_becomes_a_whole_address(written: str, address: str) -> None:
    assert address_of(written) == address


@pytest.mark.parametrize(
    "written", ["javascript:alert(1)", "chrome://settings", "view-source:x", "", "two words", "[::1"]
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(AddressError):
        address_of(written)


def test_chromes_errors_are_said_in_words() -> None:
    assert "nothing answers there (ERR_CONNECTION_REFUSED)" in why_unreachable(
        "http://x", "net::ERR_CONNECTION_REFUSED"
    )
    assert why_unreachable("http://x", "net::ERR_ODD") == "http://x could not be opened: ERR_ODD."
