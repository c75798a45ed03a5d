"""Rules for addresses to fetch from: their form, and hosts that a deployment allows although they are private."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from backend_api.kit.untrusted.addresses import address_of, is_public
from backend_api.kit.untrusted.errors import AddressRefusedError, HostRefusedError

MAX_URL_CHARACTERS = 4_096
PORTS = {"http": 80, "https": 443}
_NO_ADDRESS = "Not the URL of a page, such as https://example.org/page."
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_INNER_NAMES = ("localhost", "local", "internal", "home.arpa")


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """Exactly this name or address; without a port, only on the ports of the web."""

    host: str
    port: int | None = None


@dataclass(frozen=True, slots=True)
class FetchRules:
    """The rules. `allowed` are hosts of the deployment's own, which may be private."""

    allowed: frozenset[AllowedHost] = frozenset()

    def checked(self, url: str) -> httpx.URL:
        """The URL to connect to, provided that its host's addresses are allowed. Raises `AddressRefusedError`."""
        text = url.strip()
        if len(text) > MAX_URL_CHARACTERS or not text.isprintable() or " " in text or "\\" in text:
            raise AddressRefusedError(_NO_ADDRESS, "address_form")
        try:
            authority, parsed = urlsplit(text).netloc, httpx.URL(text)
        except (ValueError, httpx.InvalidURL) as error:
            raise AddressRefusedError(_NO_ADDRESS, "address_form") from error
        if parsed.scheme not in PORTS or not parsed.host:
            raise AddressRefusedError("Only http:// and https:// URLs can be fetched.", "address_scheme")
        if "@" in authority:
            raise AddressRefusedError(
                "A URL with a user name or password can't be fetched. Leave them out.", "address_credentials"
            )
        host, port = parsed.raw_host.decode("ascii"), PORTS[parsed.scheme] if parsed.port is None else parsed.port
        if not self.allows(host, port):
            _check_port(port)
            _check_host(host)
        return parsed.copy_with(fragment=None)

    def allows(self, host: str, port: int) -> bool:
        """Whether the deployment allows this host and port."""
        return AllowedHost(host, port) in self.allowed or (port in PORTS.values() and AllowedHost(host) in self.allowed)

    def check_addresses(self, host: str, port: int, addresses: Sequence[str]) -> None:
        """Check that every address of a name is public. Raises `HostRefusedError`."""
        if not self.allows(host, port) and not all(map(_is_public, addresses)):
            raise HostRefusedError(f"{host} resolves to an address that is not public.", "address_not_public")


def allowed_hosts(entries: Iterable[str]) -> frozenset[AllowedHost]:
    """Parse entries such as `wiki.example.org`, `10.0.0.7:8080` or `[fd00::7]:8080`. Raises `ValueError`."""
    return frozenset(map(_allowed_host, entries))


def _allowed_host(entry: str) -> AllowedHost:
    address = address_of(entry.strip("[]"))
    if address is not None:
        return AllowedHost(str(address))
    try:
        parts = urlsplit(f"//{entry}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ValueError(f"{entry} is not a host") from error
    if parts.path or parts.query or "@" in entry or not (address_of(host) or _is_name(host)):
        raise ValueError(f"{entry} is not a host, such as wiki.example.org or 10.0.0.7:8080")
    return AllowedHost(str(address_of(host) or host), port)


def _check_port(port: int) -> None:
    if port not in PORTS.values():
        raise HostRefusedError(f"Port {port} is not allowed: only ports 80 and 443 are.", "address_port")


def _check_host(host: str) -> None:
    address = address_of(host)
    if address is not None and not is_public(address):
        raise HostRefusedError(f"{host} is not a public address.", "address_not_public")
    if address is None and (not _is_name(host) or "." not in host or _is_inner(host)):
        raise HostRefusedError(f"{host} is not a public host name.", "address_not_public")


def _is_name(host: str) -> bool:
    """Whether it is a name. With a number as its last part it is an address in some form: resolvers read `127.1`,
    `0x7f.1`."""
    labels = host.split(".")
    return len(host) <= 253 and all(map(_LABEL.fullmatch, labels)) and not _NUMBER.fullmatch(labels[-1])


def _is_inner(host: str) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in _INNER_NAMES)


def _is_public(text: str) -> bool:
    address = address_of(text)
    return address is not None and is_public(address)
