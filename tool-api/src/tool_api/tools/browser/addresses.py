"""Addresses as the model writes them, and why one could not be opened."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

ALLOWED_SCHEMES = frozenset({"http", "https", "file", "about", "data", "blob"})
SCHEME = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*):(?!\d)")
REASONS = {
    "ERR_NAME_NOT_RESOLVED": "no such host is known",
    "ERR_CONNECTION_REFUSED": "nothing answers there",
    "ERR_CONNECTION_TIMED_OUT": "it did not answer in time",
    "ERR_TIMED_OUT": "it did not answer in time",
    "ERR_CONNECTION_RESET": "it reset the connection",
    "ERR_CONNECTION_CLOSED": "it closed the connection",
    "ERR_EMPTY_RESPONSE": "it sent an empty response",
    "ERR_INTERNET_DISCONNECTED": "this sandbox has no network",
    "ERR_ADDRESS_UNREACHABLE": "the address can't be reached from this sandbox",
    "ERR_FILE_NOT_FOUND": "there is no such file",
    "ERR_CERT_AUTHORITY_INVALID": "its certificate is not from a known authority",
    "ERR_CERT_COMMON_NAME_INVALID": "its certificate is for another name",
    "ERR_CERT_DATE_INVALID": "its certificate has expired",
    "ERR_TOO_MANY_REDIRECTS": "it redirects in a loop",
    "ERR_INVALID_URL": "it is not an address",
    "ERR_ABORTED": "it was aborted",
}


class AddressError(ValueError):
    """The text is no address the browser may open."""


def address_of(text: str) -> str:
    """A whole address. Raises `AddressError`."""
    text = text.strip()
    if text.startswith("/"):
        return f"file://{text}"
    scheme = SCHEME.match(text)
    if scheme is not None:
        if scheme.group(1).lower() not in ALLOWED_SCHEMES:
            raise AddressError(f"Addresses of the kind {scheme.group(1)}: can't be opened.")
        return text
    try:
        host = urlsplit(f"//{text}").hostname or ""
    except ValueError as error:
        raise AddressError(f"{text!r} is not an address.") from error
    if not host or " " in host:
        raise AddressError(f"{text!r} is not an address.")
    local = host in ("localhost", "::1") or host.startswith("127.")
    return f"{'http' if local else 'https'}://{text}"


def why_unreachable(url: str, error_text: str) -> str:
    """Chrome's error in words, with Chrome's own name for it."""
    name = error_text.removeprefix("net::")
    reason = REASONS.get(name)
    return f"{url} could not be opened: {reason} ({name})." if reason else f"{url} could not be opened: {name}."
