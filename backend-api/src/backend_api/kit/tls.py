"""The certificate authorities this process trusts."""

from __future__ import annotations

import os
import ssl
from functools import cache

import httpx


@cache
def trusted_certificates() -> ssl.SSLContext:
    """For all clients of a process, as it takes some 40 ms of a processor to read them. `SSL_CERT_FILE` and
    `SSL_CERT_DIR` name others, at the start."""
    return httpx.create_ssl_context()


@cache
def certificates_of_machine() -> ssl.SSLContext:
    """The same, but where nothing is named those of this machine, if it has any: a company's own are among them."""
    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    here = ssl.get_default_verify_paths()
    if named or not (here.cafile or here.capath):
        return trusted_certificates()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    return context
