"""Host names this server answers to. A page whose name is rebound to this server's address sends its own name as
Host."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(?::[0-9]{1,5})?")


def host_name(host: str) -> str | None:
    """The name or address in a `Host` header, normalised, or None if it is not a host."""
    found = _HOST.fullmatch(host)
    if found is None:
        return None
    name = found[1].lower()
    return name[1:-1] if name.startswith("[") else name.removesuffix(".") or None


def hosts_of_origins(origins: Iterable[str]) -> frozenset[str]:
    """The names in origins such as `https://chat.example.org`."""
    return frozenset(name for origin in origins if (name := host_name(urlsplit(origin).netloc)))


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """The accepted hosts. An IP address can't be rebound, so any is accepted; in local mode only those of this machine.

    A name must be one of `names`; `*.example.org` there stands for every name below that one.
    """

    names: frozenset[str]
    is_local: bool = False

    @classmethod
    def of(cls, names: Iterable[str], origins: Iterable[str], *, is_local: bool) -> KnownHosts:
        """The hosts from the settings, and those of origins that may call."""
        allowed = (name.lower().removesuffix(".") for name in names)
        return cls(frozenset(allowed) | hosts_of_origins(origins), is_local)

    def __contains__(self, name: str) -> bool:
        if name == "localhost" or name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return any(f"*.{parent}" in self.names for parent in _parents(name))
        return address.is_loopback or not self.is_local


def _parents(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[start:]) for start in range(1, len(parts)))
