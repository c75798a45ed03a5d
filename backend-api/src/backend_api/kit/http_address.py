"""Validates the address of an HTTP server, without checking whether it is reachable."""

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
    """The address is invalid. The message says what is wrong and how to correct it, and repeats nothing of the address,
    which may hold a password."""

    def __init__(self, reason: str, fault: AddressFault) -> None:
        super().__init__(reason)
        self.fault: AddressFault = fault


def check_http_address(url: str) -> SplitResult:
    """The parts of an absolute HTTP address, which may have a path and a query. Raises `HttpAddressError`."""
    if not url.isprintable() or " " in url or "\\" in url:
        raise HttpAddressError("an address can't contain spaces, line breaks or \\", "form")
    if not re.match(r"https?://", url, re.IGNORECASE):
        raise HttpAddressError("an address must begin with http:// or https://", "form")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise HttpAddressError("its host is neither a name nor an IP address", "host") from error
    if "@" in parts.netloc:
        raise HttpAddressError("an address can't contain a user name or password: give them in a header", "credentials")
    if "#" in url:
        raise HttpAddressError("an address of a server can't contain #: leave out that and what follows", "fragment")
    if not _is_host(parts):
        raise HttpAddressError("the host is missing after http:// or https://, as in https://tools.example.org", "host")
    try:
        is_port = parts.port != 0
    except ValueError:
        is_port = False
    if not is_port:
        raise HttpAddressError("its port must be a number from 1 to 65535", "port")
    return parts


def _is_host(parts: SplitResult) -> bool:
    """Whether it is a valid host. A name may end with one dot."""
    if "[" in parts.netloc:
        # `urlsplit` checked the address in the brackets, but not the text around them.
        return _IN_BRACKETS.fullmatch(parts.netloc) is not None
    name = (parts.hostname or "").removesuffix(".")
    if _IPV4.fullmatch(name):
        try:
            ipaddress.IPv4Address(name)
        except ValueError:
            return False
    return all(map(_LABEL.fullmatch, name.split(".")))
