"""Addresses by which a machine reaches itself alone."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether the host is `localhost`, or an address of the loopback network; no other name is looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
