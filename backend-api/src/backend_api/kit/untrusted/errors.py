"""Why nothing was fetched from an address.

AddressRefusedError     the address is none that this server fetches from, whoever asks
  HostRefusedError      its host or port is none, unless the deployment names it
FetchTooLargeError      there is more at it than is taken
FetchFailedError        nothing usable came from it
"""

from __future__ import annotations

from backend_api.kit.errors import InvalidError, TooLargeError, UpstreamError


class AddressRefusedError(InvalidError):
    """It, or one it leads to, is no public address of the web. The detail says which and why, and `fault` is a stable
    code of that."""

    code = "address_refused"

    def __init__(self, detail: str, fault: str | None = None) -> None:
        super().__init__(detail, field="url", fault=fault)


class HostRefusedError(AddressRefusedError):
    """Where it leads is not public, or not the web's port. A deployment may allow it all the same."""


class FetchTooLargeError(TooLargeError):
    """What is there is over the bound of whoever asked."""

    code = "fetch_too_large"


class FetchFailedError(UpstreamError):
    """Nothing answered in time, or with something that is no answer."""

    code = "fetch_failed"
    retryable = True
