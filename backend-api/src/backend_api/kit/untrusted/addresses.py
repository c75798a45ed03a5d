"""Recognises addresses of the public internet.

The tables are our own, as what `ipaddress` calls global has changed between releases of Python. They follow IANA's
registries of special purposes; of IPv6 only global unicast counts, which leaves out the forms that carry an IPv4
address (mapped, compatible, translated), and of the rest those that tunnel one.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_SPECIAL_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared by carriers; metadata of one cloud
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # what one cloud answers its machines by
            "169.254.0.0/16",  # link-local; metadata of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocols; metadata of one cloud
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # anycast of name servers
            "192.52.193.0/24",  # tunnels of multicast
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # anycast of name servers
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")
_SPECIAL_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocols, among them Teredo
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "2620:4f:8000::/48",  # anycast of name servers
            "3fff::/20",  # documentation
        ),
    )
)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether the server may connect to it for whoever names it."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_4)
    return address in _GLOBAL_6 and not any(address in network for network in _SPECIAL_6)


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """The address; None for a name. A number in another form than four decimal parts is no address, nor is one that
    names an interface."""
    try:
        return ip_address(text) if "%" not in text else None
    except ValueError:
        return None
