"""What passes between a browser and a program behind an open port."""

from __future__ import annotations

import pytest

from backend_api.interfaces.http.port_headers import HOP_BY_HOP, from_program, to_program

OWN = frozenset({b"port_access", b"files"})


@pytest.mark.parametrize("name", [b"Authorization", b"Proxy-Authorization", b"X-Forwarded-For", b"Forwarded"])
def test_a_program_hears_no_log_in_and_nothing_of_proxies(name: bytes) -> None:
    assert to_program([(name, b"secret"), (b"accept", b"*/*")], OWN) == [(b"accept", b"*/*")]


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        (b"port_access=secret; theme=dark; files=secret", [(b"cookie", b"theme=dark")]),
        (b"port_access=secret", []),
        (b" port_access =secret;;a=1", [(b"cookie", b"a=1")]),
        (b"=port_access=secret; a=1", [(b"cookie", b"a=1")]),
        (b"my_port_access=mine", [(b"cookie", b"my_port_access=mine")]),
    ],
)
def test_a_program_hears_its_own_cookies_alone(sent: bytes, heard: list[tuple[bytes, bytes]]) -> None:
    assert to_program([(b"Cookie", sent)], OWN) == heard


@pytest.mark.parametrize("name", sorted(HOP_BY_HOP - {b"connection"}))
def test_headers_of_a_connection_pass_in_neither_direction(name: bytes) -> None:
    sent = [(name.title(), b"x"), (b"Connection", b"close, X-Mine"), (b"x-mine", b"1"), (b"x-other", b"2")]

    assert to_program(sent, OWN) == from_program(sent, OWN) == [(b"x-other", b"2")]


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
    assert from_program([(b"Set-Cookie", said)], OWN) == [(b"set-cookie", set_as)]


@pytest.mark.parametrize("said", [b"port_access=x", b"=port_access=x; Path=/", b" files =x", b"files"])
def test_a_program_sets_no_cookie_of_ours(said: bytes) -> None:
    assert from_program([(b"set-cookie", said)], OWN) == []


@pytest.mark.parametrize("name", [b"Clear-Site-Data", b"Strict-Transport-Security", b"Alt-Svc"])
def test_what_acts_beyond_its_host_does_not_pass(name: bytes) -> None:
    assert from_program([(name, b'"cookies"'), (b"etag", b"1")], OWN) == [(b"etag", b"1")]


def test_headers_that_come_several_times_stay_so_and_in_order() -> None:
    said = [(b"set-cookie", b"a=1"), (b"vary", b"x"), (b"set-cookie", b"b=2")]

    assert from_program(said, OWN) == said
