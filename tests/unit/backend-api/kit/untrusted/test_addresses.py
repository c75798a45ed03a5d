"""No address that is anybody's own counts as public, in whatever form it is written."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.kit.untrusted.addresses import address_of, is_public

PRIVATE = st.one_of(
    *(
        st.ip_addresses(v=4, network=network)
        for network in ("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12")
    ),
    *(
        st.ip_addresses(v=4, network=network)
        for network in ("192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24")
    ),
    *(st.ip_addresses(v=4, network=network) for network in ("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")),
)
CARRIERS = {
    "mapped": ("::ffff:0:0", 0),
    "compatible": ("::", 0),
    "translated": ("64:ff9b::", 0),
    "translated in a site": ("64:ff9b:1::", 0),
    "6to4": ("2002::", 80),
    "Teredo": ("2001::", 0),
}


@given(PRIVATE)
def test_what_is_private_is_not_public(address: IPv4Address) -> None:
    assert not is_public(address)


@given(st.ip_addresses(v=4), st.sampled_from(sorted(CARRIERS)))
def test_no_form_of_ipv6_that_carries_an_address_of_ipv4_is_public(address: IPv4Address, carrier: str) -> None:
    base, shift = CARRIERS[carrier]
    assert not is_public(IPv6Address(int(IPv6Address(base)) | (int(address) << shift)))


@given(st.ip_addresses())
def test_nothing_is_public_that_python_calls_private(address: IPv4Address | IPv6Address) -> None:
    if is_public(address):
        assert address.is_global
        assert not any((address.is_multicast, address.is_reserved, address.is_link_local, address.is_loopback))


@given(st.ip_addresses(v=6))
def test_of_ipv6_only_what_is_given_out_is_public(address: IPv6Address) -> None:
    assert not is_public(address) or address in ip_network("2000::/3")


@pytest.mark.parametrize(
    "text",
    [
        *("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fe80::1"),
        *("::1", "::", "::ffff:7f00:1", "ff02::1", "fc00::1", "fec0::1", "2001:db8::1", "3fff::1", "100::1", "5f00::1"),
    ],
)
def test_metadata_and_special_addresses_are_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", ["1.1.1.1", "8.8.8.8", "223.255.255.255", "2606:4700::1111", "2a00:1450::1"])
def test_ordinary_addresses_are_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize(
    "text", ["2130706433", "0x7f.1", "0x7f000001", "127.1", "0177.0.0.1", "127.0.0.1.", "fe80::1%1"]
)
def test_other_forms_of_a_number_are_no_address(text: str) -> None:
    assert address_of(text) is None
