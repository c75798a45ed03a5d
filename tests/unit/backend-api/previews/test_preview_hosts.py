"""Which hosts are opened ports', and what the address of one is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from backend_api.kit.http.ports import WebOptions
from backend_api.previews.domain.entity import (
    FIRST_PORT,
    LAST_PORT,
    RESERVED_PORTS,
    clean_label,
    new_port_id,
    port_id_from,
)
from backend_api.previews.http.preview_hosts import port_of, preview_address, preview_label
from backend_api.previews.proxy.cookies import cookie_header, read_cookies
from contracts import ports as wire

ROOT = Path(__file__).resolve().parents[4]
ID = "a234567a234567a234567a2345"


def scope(*hosts: str, scheme: str = "http", **headers: str) -> dict[str, Any]:
    raw = [(b"host", host.encode()) for host in hosts]
    raw += [(name.encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "GET", "scheme": scheme, "path": "/", "query_string": b"", "headers": raw}


@pytest.mark.parametrize(
    ("host", "label"),
    [
        (f"p-{ID}.apps.example.org", f"p-{ID}"),
        (f"P-{ID}.Apps.Example.ORG:8443", f"p-{ID}"),
        (f"p-{ID}.apps.example.org.", f"p-{ID}"),
        ("p-x.apps.example.org", "p-x"),
        ("apps.example.org", None),
        ("chat.apps.example.org", None),
        (f"a.p-{ID}.apps.example.org", None),
        (f"p-{ID}.example.org", None),
        (f"p-{ID}.evilapps.example.org", None),
        (f"p-{ID}.apps.example.org.evil.example", None),
        (f"p-{ID}.apps.example.org@evil.example", None),
    ],
)
def test_only_names_right_below_the_domain_are_ports(host: str, label: str | None) -> None:
    assert preview_label(scope(host), "apps.example.org:8443") == label


def test_of_several_hosts_and_of_none_and_without_a_domain_there_is_no_port() -> None:
    host = f"p-{ID}.localhost"

    assert preview_label(scope(host, host), "localhost") is None
    assert preview_label(scope(), "localhost") is None
    assert preview_label(scope(host), "") is None


def test_an_id_has_128_bits_and_is_a_label_of_a_name() -> None:
    ids = {new_port_id() for _ in range(100)}

    assert len(ids) == 100
    assert all(port_id_from(one) == one == port_of(f"p-{one}") for one in ids)
    assert port_id_from("A" * 26) is port_id_from("a" * 25) is port_of("p-x") is None


@pytest.mark.parametrize(
    ("domain", "public_url", "scheme", "host", "address"),
    [
        ("localhost", "", "http", "127.0.0.1:8000", f"http://p-{ID}.localhost:8000/"),
        ("apps.example.org", "", "https", "chat.example.org", f"https://p-{ID}.apps.example.org/"),
        ("apps.example.org:81", "", "http", "a:8000", f"http://p-{ID}.apps.example.org:81/"),
        (
            *("apps.example.org", "https://chat.example.org"),
            *("http", "10.0.0.1:5173"),
            f"https://p-{ID}.apps.example.org/",
        ),
    ],
)
def test_an_address_is_made_as_the_server_is_reached(
    domain: str, public_url: str, scheme: str, host: str, address: str
) -> None:
    asked = HTTPConnection(scope(host, scheme=scheme))

    assert preview_address(asked, WebOptions(public_url=public_url), domain, ID, "t") == f"{address}?preview_token=t"


def test_a_cookie_is_the_hosts_own_and_of_many_that_are_planted_a_few_are_looked_at() -> None:
    secure = cookie_header(scope("h", scheme="https"), "v", 60)
    many = "; ".join(f"preview-access={number}" for number in range(9))

    assert secure == (
        b"set-cookie",
        b"__Host-preview-access=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure",
    )
    assert read_cookies(scope("h", cookie=many)) == ["0", "1", "2", "3"]
    assert read_cookies(scope("h", scheme="https", cookie="preview-access=a; __Host-preview-access=b")) == ["b"]


def test_the_gateway_the_computer_and_the_page_mean_the_same_ports() -> None:
    assert (FIRST_PORT, LAST_PORT, RESERVED_PORTS) == (wire.FIRST_PORT, wire.LAST_PORT, wire.RESERVED_PORTS)
    page = (ROOT / "frontend" / "src" / "features" / "ports" / "openPorts.ts").read_text(encoding="utf-8")
    numbers = re.findall(r"(?:FIRST|LAST)_PORT = ([0-9_]+)", page)
    assert [int(number) for number in numbers] == [FIRST_PORT, LAST_PORT]


def test_a_label_is_one_line_that_can_be_seen() -> None:
    assert clean_label(" a\n\tb\u202ec\x00 ") == "a b c"
    assert len(clean_label("x" * 200)) == 80
