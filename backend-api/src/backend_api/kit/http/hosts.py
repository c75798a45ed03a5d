"""Names this server answers to. A page whose name is rebound to this server's address says its own name as host."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(?::[0-9]{1,5})?")


def host_name(host: str) -> str | None:
    """The name or address of a `Host` header as it is compared; None for what is no host."""
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
    """An address is nobody's to rebind, so every address is fine; in local mode only those of this machine are.

    A name is one of `names`; `*.example.org` there stands for every name below that one.
    """

    names: frozenset[str]
    is_local: bool = False

    @classmethod
    def of(cls, names: Iterable[str], origins: Iterable[str], *, is_local: bool) -> KnownHosts:
        """Names as the settings have them, and those of origins that may call."""
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
