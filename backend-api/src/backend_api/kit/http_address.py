"""What an address of an HTTP server may look like, whether or not anybody answers there."""

from __future__ import annotations

import ipaddress
import re
from typing import Literal
from urllib.parse import SplitResult, urlsplit

AddressFault = Literal["form", "host", "port", "credentials", "fragment"]

_LABEL = re.compile(r"[a-z0-9_\-\u0080-\U0010ffff]{1,63}")
_IPV4 = re.compile(r"[0-9]+(\.[0-9]+){3}")
_IN_BRACKETS = re.compile(r"\[[0-9a-f:.]+(%[^\[\]]*)?\](:.*)?", re.IGNORECASE)


class HttpAddressError(ValueError):
    """No server is reached by it. The message says what is wrong and how to mend it, and nothing of the address, which
    may hold a password."""

    def __init__(self, reason: str, fault: AddressFault) -> None:
        super().__init__(reason)
        self.fault: AddressFault = fault


def check_http_address(url: str) -> SplitResult:
    """The parts of an absolute address of HTTP, in which a path and a query may stand. Raises `HttpAddressError`."""
    if not url.isprintable() or " " in url or "\\" in url:
        raise HttpAddressError("an address has no spaces, no line breaks and no \\ in it", "form")
    if not re.match(r"https?://", url, re.IGNORECASE):
        raise HttpAddressError("an address begins with http:// or https://", "form")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise HttpAddressError("its host is no name and no address", "host") from error
    if "@" in parts.netloc:
        raise HttpAddressError(
            "an address has no user name and no password in it: give them in a header", "credentials"
        )
    if "#" in url:
        raise HttpAddressError("an address of a server has no # in it: leave out that and what follows", "fragment")
    if not _is_host(parts):
        raise HttpAddressError("after http:// or https:// stands the host, such as tools.example.org", "host")
    try:
        is_port = parts.port != 0
    except ValueError:
        is_port = False
    if not is_port:
        raise HttpAddressError("its port is a number from 1 to 65535", "port")
    return parts


def _is_host(parts: SplitResult) -> bool:
    """Whether a server can have it. One dot may end a name."""
    if "[" in parts.netloc:
        # What is in there was looked at as it was taken apart, but not that nothing else is.
        return _IN_BRACKETS.fullmatch(parts.netloc) is not None
    name = (parts.hostname or "").removesuffix(".")
    if _IPV4.fullmatch(name):
        try:
            ipaddress.IPv4Address(name)
        except ValueError:
            return False
    return all(map(_LABEL.fullmatch, name.split(".")))
