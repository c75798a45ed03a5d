"""The packet filter of a sandbox, as rules of nftables for its network namespace.

Rules of the namespace's own hooks hold for every socket in it, be it bound to a device or a raw one; routes that lead
nowhere do not. Nobody inside has a right over the namespace, so nobody inside can change them.
"""

from __future__ import annotations

import ipaddress
import logging
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.domain.errors import EngineUnavailableError

_log = logging.getLogger(__name__)

HOST_FIB_TRIE = Path("/proc/net/fib_trie")
MOUNTED_FIB_TRIE = Path("/opt/app/host/fib_trie")
"""Where a manager in a container of its own finds that of its host. Its image has an empty file there, which names no
address: where nothing is mounted over it, nothing is opened."""
Network = ipaddress.IPv4Network

# Nowhere; loopback on a wire; link-local with the metadata of clouds; that of Azure; multicast, reserved, broadcast.
_ALWAYS = ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "224.0.0.0/3")
_UNKNOWN = "the addresses of this host, which sandboxes must not reach, can't be read"
_LEAF = "|-- "
_LOCAL = " host LOCAL"

_RULES = """
add table inet sandbox
delete table inet sandbox
table inet sandbox {{
  set closed {{
    type ipv4_addr
    flags interval
    elements = {{ {closed} }}
  }}
  chain output {{
    type filter hook output priority filter; policy drop;
    oifname "lo" accept
    {replies}
    ip hdrlength > 5 drop comment "options may name a way round what is closed"
    {resolver}
    ip daddr @closed reject with icmpx type admin-prohibited
    meta nfproto ipv4 accept
  }}
  chain input {{
    type filter hook input priority filter; policy drop;
    iifname "lo" accept
    {enters}
  }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterExceptions:
    """Traffic that the packet filter allows besides that to the internet; each field is a fragment of nft rules."""

    replies: str
    resolver: str
    enters: str

    @classmethod
    def with_endpoint(cls, subnet: str, port: int) -> FilterExceptions:
        """Exceptions for a container: its own network reaches the endpoint, and the engine's resolver forwards its
        queries.

        The resolver belongs to root, which nobody inside can become; where the engine maps users, it has no name there.
        """
        return cls(
            replies="ct direction reply ct state established,related accept",
            resolver="meta skuid { 0, 65534 } meta l4proto { tcp, udp } th dport 53 accept",
            enters=f"ct state established,related accept\n    ip saddr {Network(subnet)} tcp dport {port} accept",
        )

    @classmethod
    def with_resolver(cls, address: str) -> FilterExceptions:
        """Exceptions for a namespace without incoming traffic; its network's resolver answers on its port alone."""
        return cls(
            replies="",
            resolver=f"ip daddr {ipaddress.IPv4Address(address)} meta l4proto {{ tcp, udp }} th dport 53 accept",
            enters="meta nfproto ipv4 accept",
        )


def rules(exceptions: FilterExceptions, closed: Iterable[Network]) -> str:
    """The whole ruleset, for `nft`: put in place at once, also over an older one. There is no IPv6 but on loopback."""
    networks = [*(Network(one) for one in _ALWAYS), *closed]
    elements = ", ".join(str(one) for one in ipaddress.collapse_addresses(networks))
    return _RULES.format(
        closed=elements, replies=exceptions.replies, resolver=exceptions.resolver, enters=exceptions.enters
    )


def networks_of(texts: Iterable[str]) -> list[Network]:
    """The IPv4 networks; for IPv6 there is nothing to close. Raises `ValueError`."""
    networks = (ipaddress.ip_network(text, strict=False) for text in texts)
    return [one for one in networks if isinstance(one, Network)]


class HostNetworks:
    """Every address of this machine now; if they can't be read, those that were read last stay closed.

    Raises `EngineUnavailableError` if they were never read: no address is opened that might be this machine's.
    """

    def __init__(self, trie: Path) -> None:
        self._trie = trie
        self._known: list[Network] | None = None

    def __call__(self) -> list[Network]:
        try:
            self._known = host_networks(self._trie)
        except EngineUnavailableError as error:
            if self._known is None:
                raise
            _log.warning("host addresses not known", extra={"reason": error.detail})
        return self._known


def engine_host_trie(mounted: Path = MOUNTED_FIB_TRIE) -> Path:
    """What names the addresses of the machine that the engine is on."""
    return mounted if mounted.exists() else HOST_FIB_TRIE


def host_networks(trie: Path = HOST_FIB_TRIE) -> list[Network]:
    """Every address of a machine beside its loopback, by its routing table.

    For `/dev/null`, which stands for an unreadable table, only a warning is logged. Raises `EngineUnavailableError`.
    """
    try:
        if stat.S_ISCHR(trie.stat().st_mode):
            _log.warning("addresses of the host are not closed", extra={"file": str(trie)})
            return []
        lines = [line.strip() for line in trie.read_text().splitlines()]
    except (OSError, ValueError) as error:
        raise EngineUnavailableError(f"{_UNKNOWN} ({error}).") from error
    found: dict[Network, None] = {}
    leaf = ""
    for line in lines:
        if line.startswith(_LEAF):
            leaf = line.removeprefix(_LEAF)
        elif leaf and line.endswith(_LOCAL):
            found[Network(leaf + line.removesuffix(_LOCAL), strict=False)] = None
    if not found:
        raise EngineUnavailableError(f"{_UNKNOWN} ({trie} names none).")
    return [one for one in found if not one.is_loopback]
