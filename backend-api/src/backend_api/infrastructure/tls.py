"""The certificate authorities this process trusts."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def trusted_certificates() -> ssl.SSLContext:
    """For all clients of a process, as it takes some 40 ms of a processor to read them. `SSL_CERT_FILE` and
    `SSL_CERT_DIR` name others, at the start."""
    return httpx.create_ssl_context()
