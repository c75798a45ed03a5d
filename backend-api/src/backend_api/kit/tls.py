"""The certificate authorities this process trusts."""

from __future__ import annotations

import os
import ssl
from functools import cache

import httpx


@cache
def trusted_certificates() -> ssl.SSLContext:
    """The context for all clients of a process, cached since reading the certificates takes some 40 ms of CPU.
    `SSL_CERT_FILE` and `SSL_CERT_DIR` name others, at the start."""
    return httpx.create_ssl_context()


@cache
def certificates_of_machine() -> ssl.SSLContext:
    """The same, but without those variables the machine's own certificates, if any, which include a company's."""
    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    here = ssl.get_default_verify_paths()
    if named or not (here.cafile or here.capath):
        return trusted_certificates()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    return context
