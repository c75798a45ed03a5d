"""Headers passed between a browser and a program in a sandbox whose port is open.

The program is untrusted: it receives nothing that gives access to this service, and sends nothing that has effect
beyond its own host. It sees itself at `localhost`, as many development servers refuse other names. Names are compared
in lower case; headers are pairs of bytes, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backend_api.previews.proxy.cookies import OWN_COOKIES

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
_NOT_TO_PROGRAMS = frozenset(
    {b"host", b"expect", b"forwarded", b"x-real-ip", b"traceparent", b"tracestate", b"baggage", b"x-request-id"}
)
_NOT_FROM_PROGRAMS = frozenset({b"clear-site-data", b"strict-transport-security", b"alt-svc", b"public-key-pins"})
"""Headers that affect other hosts or ports than the program's own: the first ends log-ins of the whole domain."""
_ORDERS_TO_PROXIES = (b"x-accel-", b"x-sendfile", b"x-lighttpd-send", b"x-reproxy-")
"""Prefixes of headers that a proxy before this service may take as its own server's, and answer with files of its
machine. All are dropped but the one that says that a stream is not to be buffered."""
_UNBUFFERED = b"x-accel-buffering"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """The public origin of a request, such as `http` and `p-x.localhost:8000`, and the port it is passed on to."""

    scheme: str
    host: str
    port: int

    @property
    def public(self) -> bytes:
        """The origin as the browser names it."""
        return f"{self.scheme}://{self.host}".encode()

    @property
    def of_program(self) -> bytes:
        """The origin as the program names it."""
        return f"http://{self.host_of_program.decode()}".encode()

    @property
    def host_of_program(self) -> bytes:
        """The program's `Host`."""
        return f"localhost:{self.port}".encode()


def to_program(headers: Iterable[tuple[bytes, bytes]], origins: Origins) -> Headers:
    """Headers of a request in the form that the program gets.

    Headers of the connection, those that proxies added, and our own cookies are left out; the public host is replaced
    by the program's.
    """
    passed: Headers = [
        (b"host", origins.host_of_program),
        (b"x-forwarded-host", origins.host.encode()),
        (b"x-forwarded-proto", origins.scheme.encode()),
    ]
    for name, value in _end_to_end(headers):
        if name in _NOT_TO_PROGRAMS or name.startswith(b"x-forwarded-"):
            continue
        if name in (b"origin", b"referer"):
            passed.append((name, _moved(value, (origins.public,), origins.of_program)))
        elif name != b"cookie":
            passed.append((name, value))
        elif kept := _without_own_cookies(value):
            passed.append((name, kept))
    return passed


def from_program(headers: Iterable[tuple[bytes, bytes]], origins: Origins) -> Headers:
    """Headers of an answer in the form that the browser gets.

    A cookie is set for the program's own host only, whatever domain it names, and none of our names is set. A redirect
    to the program's own address leads to the public one.
    """
    passed = Headers()
    for name, value in _end_to_end(headers):
        if name in _NOT_FROM_PROGRAMS or (name.startswith(_ORDERS_TO_PROXIES) and name != _UNBUFFERED):
            continue
        if name in (b"location", b"content-location"):
            passed.append((name, _moved(value, _addresses(origins), origins.public)))
        elif name != b"set-cookie":
            passed.append((name, value))
        elif _name_of(value) not in OWN_COOKIES:
            passed.append((name, _for_its_host(value)))
    return passed


def _addresses(origins: Origins) -> tuple[bytes, ...]:
    hosts = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]")  # nothing is bound to them
    return tuple(f"{scheme}://{host}:{origins.port}".encode() for host in hosts for scheme in ("http", "https"))


def _moved(address: bytes, froms: Iterable[bytes], to: bytes) -> bytes:
    for one in froms:
        rest = address.removeprefix(one)
        if rest != address and rest[:1] in (b"", b"/", b"?", b"#"):
            return to + rest
    return address


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers without those of the connection, and without those that `Connection` lists."""
    lowered = [(name.lower(), value) for name, value in headers]
    named = {one.strip().lower() for name, value in lowered if name == b"connection" for one in value.split(b",")}
    return [(name, value) for name, value in lowered if name not in HOP_BY_HOP and name not in named]


def _without_own_cookies(cookies: bytes) -> bytes:
    return b"; ".join(one.strip() for one in cookies.split(b";") if one.strip() and _name_of(one) not in OWN_COOKIES)


def _name_of(cookie: bytes) -> bytes:
    """The name of a cookie. One without a name is sent as its value alone, which the receiver then parses as name and
    value."""
    return cookie.partition(b";")[0].strip(b" \t=").partition(b"=")[0].strip()


def _for_its_host(cookie: bytes) -> bytes:
    pair, *attributes = cookie.split(b";")
    kept = (one for one in attributes if one.partition(b"=")[0].strip().lower() != b"domain")
    return b";".join((pair, *kept))
