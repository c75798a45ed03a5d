"""Which addresses of pages are taken at all, before any name is resolved."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.kit.untrusted.addresses import is_public
from backend_api.kit.untrusted.errors import AddressRefusedError
from backend_api.kit.untrusted.rules import AllowedHost, FetchRules, allowed_hosts

RULES = FetchRules()
FORMS = (
    lambda address: str(int(address)),
    lambda address: hex(int(address)),
    lambda address: ".".join(hex(part) for part in address.packed),
    lambda address: ".".join(f"{part:#o}".replace("o", "") for part in address.packed),
    lambda address: f"{address.packed[0]}.{int(address) & 0xFFFFFF}",
    lambda address: f"{address}.",
    lambda address: f"[::ffff:{address}]",
    lambda address: f"[64:ff9b::{address}]",
)


@given(st.ip_addresses(v=4), st.sampled_from(FORMS), st.sampled_from(["http", "https"]))
def test_no_odd_form_of_a_number_is_taken(address: IPv4Address, form: object, scheme: str) -> None:
    assert callable(form)
    with pytest.raises(AddressRefusedError):
        RULES.checked(f"{scheme}://{form(address)}/")


@given(st.ip_addresses(v=4))
def test_a_plain_number_is_taken_where_it_is_public(address: IPv4Address) -> None:
    if is_public(address):
        assert RULES.checked(f"https://{address}/").host == str(address)
    else:
        with pytest.raises(AddressRefusedError):
            RULES.checked(f"https://{address}/")


@given(st.text(max_size=60))
def test_whatever_is_said_to_be_an_address_is_one_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"http://example.org{text}", f"http://{text}@example.org/"):
        try:
            checked = RULES.checked(url)
        except AddressRefusedError:
            continue
        assert checked.scheme in ("http", "https")
        assert not checked.userinfo
        assert (checked.port or 443) in (80, 443)
        assert RULES.checked(str(checked)) == checked


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org", "//example.org/", "ftp://example.org/", "file:///etc/passwd", "gopher://example.org"),
        *("javascript:alert(1)", "data:text/html,x", "unix:///run/x.sock", "http:///x", "http://"),
        *(
            "http://anna:secret@example.org/",
            "http://anna@example.org/",
            "http://@example.org/",
            "http://:@example.org",
        ),
        *("http://example.org:22/", "http://example.org:8080/", "https://example.org:0/", "http://example.org:99999/"),
        *("http://example.org\\@127.0.0.1/", "http://exam ple.org/", "http://example.org/a b", "http://example.org\n/"),
        *(
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://017700000001",
        ),
        *("http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[fe80::1%25eth0]/", "http://[2606:4700::1%251]/"),
        *("http://localhost/", "http://a.localhost/", "http://redis/", "http://x.internal/", "http://printer.local/"),
        *("http://example.org./", "http://127.0.0.1./", "http://1.2.3/", "http://1.2.3.4.5/", "http://a.0x1/"),
        *(
            "http://１２７.0.0.1/",
            "http://①②⑦.⓪.⓪.①/",
            "http://127。0。0。1/",
            "http://%31%32%37.0.0.1/",
            "http://a..b/",
        ),
        *("http://-a.org/", "http://a_.-.org/", f"http://{'a' * 64}.org/", f"http://example.org/{'a' * 4096}"),
    ],
)
def test_what_is_no_public_address_of_a_page_is_refused(url: str) -> None:
    with pytest.raises(AddressRefusedError):
        RULES.checked(url)


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("https://example.org", "https://example.org"),
        (" HTTPS://Example.org:443/A?b=ä#part ", "https://example.org/A?b=%C3%A4"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://user_pages.example.org/@anna", "https://user_pages.example.org/@anna"),
        ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
    ],
)
def test_an_address_of_a_page_is_taken_as_it_is_meant(url: str, meant: str) -> None:
    assert str(RULES.checked(url)) == meant


def test_hosts_of_the_deployment_are_allowed_exactly_as_they_are_named() -> None:
    rules = FetchRules(allowed_hosts(["wiki.internal", "10.0.0.7:8080", "[fd00::7]:9000", "::1"]))
    for url in ("https://wiki.internal/", "http://10.0.0.7:8080/x", "http://[fd00::7]:9000/", "http://[::1]/"):
        rules.checked(url)
    for url in (
        *("http://wiki.internal:8080/", "http://a.wiki.internal/", "http://10.0.0.7/", "http://10.0.0.7:8081/"),
        *("http://[fd00::7]/", "http://anna@wiki.internal/", "http://10.0.0.8:8080/"),
    ):
        with pytest.raises(AddressRefusedError):
            rules.checked(url)
    rules.check_addresses("wiki.internal", 443, ["10.1.1.1"])
    with pytest.raises(AddressRefusedError):
        rules.check_addresses("wiki.example", 443, ["10.1.1.1"])


def test_a_name_with_one_private_address_among_others_is_refused() -> None:
    for addresses in (["1.1.1.1", "10.0.0.1"], ["2606:4700::1111", "::ffff:1.1.1.1"], ["fe80::1%eth0"], ["what"]):
        with pytest.raises(AddressRefusedError):
            RULES.check_addresses("example.org", 443, addresses)


@pytest.mark.parametrize(
    "entry", ["http://a.example", "a.example/x", "u@a.example", "127.1", "a b", "a.example:x", "*.org"]
)
def test_what_names_no_host_is_no_allowed_one(entry: str) -> None:
    with pytest.raises(ValueError, match=r"host|IPv6|[Pp]ort"):
        allowed_hosts([entry])


def test_allowed_hosts_are_read() -> None:
    assert allowed_hosts(["Wiki.example.org:8080"]) == {AllowedHost("wiki.example.org", 8080)}


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("no address", "address_form"),
        ("ftp://example.org/", "address_scheme"),
        ("https://a:b@example.org/", "address_credentials"),
        ("https://example.org:8443/", "address_port"),
        ("https://10.0.0.1/", "address_not_public"),
        ("https://wiki.internal/", "address_not_public"),
    ],
)
def test_an_address_is_refused_with_a_code_of_what_is_wrong(url: str, fault: str) -> None:
    with pytest.raises(AddressRefusedError) as refused:
        RULES.checked(url)
    assert refused.value.fault == fault
