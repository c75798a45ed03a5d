"""Which headers pass between a browser and a program in a sandbox whose port is open.

The program is an attacker's: it hears nothing that admits to this service, and says nothing that reaches beyond its own
host. Names are compared in lower case; headers come and go as pairs of bytes, in their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

Headers = list[tuple[bytes, bytes]]

HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_NOT_TO_PROGRAMS = frozenset({b"authorization", b"forwarded", b"x-real-ip", b"traceparent", b"tracestate", b"baggage"})
_NOT_FROM_PROGRAMS = frozenset({b"clear-site-data", b"strict-transport-security", b"alt-svc", b"public-key-pins"})
"""What acts on other hosts or ports than the program's own: the first ends log-ins of the whole domain."""


def to_program(headers: Iterable[tuple[bytes, bytes]], own_cookies: Collection[bytes]) -> Headers:
    """Headers of a request as the program gets them.

    Left out are those of the connection, log-ins, what proxies added, and the cookies named in `own_cookies`.
    """
    passed = Headers()
    for name, value in _end_to_end(headers):
        if name in _NOT_TO_PROGRAMS or name.startswith(b"x-forwarded-"):
            continue
        if name != b"cookie":
            passed.append((name, value))
        elif kept := _without_own(value, own_cookies):
            passed.append((name, kept))
    return passed


def from_program(headers: Iterable[tuple[bytes, bytes]], own_cookies: Collection[bytes]) -> Headers:
    """Headers of an answer as the browser gets them.

    A cookie is set for the program's own host alone, whatever domain it names, and none of `own_cookies` is set.
    """
    passed = Headers()
    for name, value in _end_to_end(headers):
        if name in _NOT_FROM_PROGRAMS:
            continue
        if name != b"set-cookie":
            passed.append((name, value))
        elif _name_of(value) not in own_cookies:
            passed.append((name, _for_its_host(value)))
    return passed


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Without those of the connection, and those that `Connection` says are."""
    lowered = [(name.lower(), value) for name, value in headers]
    named = {one.strip().lower() for name, value in lowered if name == b"connection" for one in value.split(b",")}
    return [(name, value) for name, value in lowered if name not in HOP_BY_HOP and name not in named]


def _without_own(cookies: bytes, own: Collection[bytes]) -> bytes:
    return b"; ".join(one.strip() for one in cookies.split(b";") if one.strip() and _name_of(one) not in own)


def _name_of(cookie: bytes) -> bytes:
    """A cookie without a name is sent as its value alone, which another part then reads as a name and a value."""
    return cookie.partition(b";")[0].strip(b" \t=").partition(b"=")[0].strip()


def _for_its_host(cookie: bytes) -> bytes:
    pair, *attributes = cookie.split(b";")
    kept = (one for one in attributes if one.partition(b"=")[0].strip().lower() != b"domain")
    return b";".join((pair, *kept))
