"""Errors of fetching from an address.

AddressRefusedError     this server does not fetch from the address, whoever requests it
  HostRefusedError      its host or port is not allowed, unless the deployment names it
FetchTooLargeError      the answer is over the bound
FetchFailedError        nothing usable came from it
"""

from __future__ import annotations

from backend_api.kit.errors import InvalidError, TooLargeError, UpstreamError


class AddressRefusedError(InvalidError):
    """The address, or one it leads to, is not a public address of the web. The detail gives the address and the reason,
    and `fault` is a stable code of the reason."""

    code = "address_refused"

    def __init__(self, detail: str, fault: str | None = None) -> None:
        super().__init__(detail, field="url", fault=fault)


class HostRefusedError(AddressRefusedError):
    """The target is not public, or not at a port of the web. A deployment may allow it all the same."""


class FetchTooLargeError(TooLargeError):
    """The answer is over the caller's bound."""

    code = "fetch_too_large"


class FetchFailedError(UpstreamError):
    """Nothing answered in time, or the answer is invalid."""

    code = "fetch_failed"
    retryable = True
