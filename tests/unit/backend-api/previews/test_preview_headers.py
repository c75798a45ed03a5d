"""What passes between a browser and a program behind an open port."""

from __future__ import annotations

import pytest

from backend_api.previews.proxy.headers import HOP_BY_HOP, Headers, Origins, from_program, to_program

HERE = Origins(scheme="http", host="p-x.localhost:8000", port=3000)
OF_HOST = {b"host", b"x-forwarded-host", b"x-forwarded-proto"}


def heard(*headers: tuple[bytes, bytes]) -> Headers:
    """What the program hears beside the names of hosts."""
    return [one for one in to_program(headers, HERE) if one[0] not in OF_HOST]


def test_a_program_hears_that_it_is_at_localhost_and_what_the_browser_says() -> None:
    sent = [(b"Host", b"p-x.localhost:8000"), (b"X-Forwarded-Host", b"evil"), (b"x-forwarded-proto", b"gopher")]

    assert to_program(sent, HERE) == [
        (b"host", b"localhost:3000"),
        (b"x-forwarded-host", b"p-x.localhost:8000"),
        (b"x-forwarded-proto", b"http"),
    ]


@pytest.mark.parametrize("name", [b"Proxy-Authorization", b"X-Forwarded-For", b"Forwarded", b"Traceparent", b"Expect"])
def test_a_program_hears_nothing_of_proxies_and_traces(name: bytes) -> None:
    assert heard((name, b"x"), (b"accept", b"*/*")) == [(b"accept", b"*/*")]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (b"preview-access=secret; theme=dark; __Host-preview-access=secret", [(b"cookie", b"theme=dark")]),
        (b"preview-access=secret", []),
        (b" preview-access =secret;;a=1", [(b"cookie", b"a=1")]),
        (b"=preview-access=secret; a=1", [(b"cookie", b"a=1")]),
        (b"my_preview-access=mine", [(b"cookie", b"my_preview-access=mine")]),
    ],
)
def test_a_program_hears_its_own_cookies_alone(sent: bytes, kept: Headers) -> None:
    assert heard((b"Cookie", sent)) == kept


def test_an_origin_is_the_programs_own_where_it_is_this_ports_alone() -> None:
    assert heard((b"origin", b"http://p-x.localhost:8000")) == [(b"origin", b"http://localhost:3000")]
    assert heard((b"referer", b"http://p-x.localhost:8000/a?b")) == [(b"referer", b"http://localhost:3000/a?b")]
    for other in (b"https://p-x.localhost:8000", b"http://p-x.localhost:80001", b"http://evil.example", b"null"):
        assert heard((b"origin", other)) == [(b"origin", other)]


@pytest.mark.parametrize("name", sorted(HOP_BY_HOP - {b"connection"}))
def test_headers_of_a_connection_pass_in_neither_direction(name: bytes) -> None:
    sent = [(name.title(), b"x"), (b"Connection", b"close, X-Mine"), (b"x-mine", b"1"), (b"x-other", b"2")]

    assert heard(*sent) == from_program(sent, HERE) == [(b"x-other", b"2")]


@pytest.mark.parametrize(
    ("said", "set_as"),
    [
        (b"a=1; Domain=example.org; Path=/; HttpOnly", b"a=1; Path=/; HttpOnly"),
        (b"a=1; DOMAIN = .example.org", b"a=1"),
        (b"a=1;domain", b"a=1"),
        (b"domain=1; Secure", b"domain=1; Secure"),
    ],
)
def test_a_cookie_is_set_for_the_programs_own_host(said: bytes, set_as: bytes) -> None:
    assert from_program([(b"Set-Cookie", said)], HERE) == [(b"set-cookie", set_as)]


@pytest.mark.parametrize(
    "said", [b"preview-access=x", b"=preview-access=x; Path=/", b" __Host-preview-access =x", b"preview-access"]
)
def test_a_program_sets_no_cookie_of_ours(said: bytes) -> None:
    assert from_program([(b"set-cookie", said)], HERE) == []


@pytest.mark.parametrize("name", [b"Clear-Site-Data", b"Strict-Transport-Security", b"Alt-Svc"])
def test_what_acts_beyond_its_host_does_not_pass(name: bytes) -> None:
    assert from_program([(name, b'"cookies"'), (b"etag", b"1")], HERE) == [(b"etag", b"1")]


@pytest.mark.parametrize(
    "name", [b"X-Accel-Redirect", b"X-Accel-Limit-Rate", b"X-Sendfile", b"X-LIGHTTPD-send-file", b"X-Reproxy-URL"]
)
def test_a_program_gives_no_orders_to_the_proxy_before_us(name: bytes) -> None:
    streams = (b"x-accel-buffering", b"no")

    assert from_program([(name, b"/protected/secret"), streams], HERE) == [streams]


@pytest.mark.parametrize(
    ("said", "leads_to"),
    [
        (b"http://localhost:3000/in?a=1", b"http://p-x.localhost:8000/in?a=1"),
        (b"http://127.0.0.1:3000", b"http://p-x.localhost:8000"),
        (b"/in", b"/in"),
        (b"http://localhost:30001/", b"http://localhost:30001/"),
        (b"https://example.org/", b"https://example.org/"),
    ],
)
def test_a_redirect_to_the_programs_own_address_leads_to_the_public_one(said: bytes, leads_to: bytes) -> None:
    assert from_program([(b"Location", said)], HERE) == [(b"location", leads_to)]


def test_headers_that_come_several_times_stay_so_and_in_order() -> None:
    said = [(b"set-cookie", b"a=1"), (b"vary", b"x"), (b"set-cookie", b"b=2")]

    assert from_program(said, HERE) == said
