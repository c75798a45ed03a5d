"""What is wrong with a pasted key is said of the field that has to be changed."""

from __future__ import annotations

import asyncssh
import pytest

from backend_api.kit.errors import InvalidError
from backend_api.targets.ssh.keys import AsyncsshKeys

FORMS = ("openssh", "pkcs8-pem", "pkcs1-pem")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("passphrase", "fault"), [(None, "key_passphrase_missing"), ("coffee", "key_passphrase_wrong"), ("tea", None)]
)
def test_a_passphrase_that_is_missing_or_wrong_is_told_in_each_form_of_key(
    form: str, passphrase: str | None, fault: str | None
) -> None:
    key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    private = key.export_private_key(form, passphrase="tea").decode()
    if fault is None:
        assert AsyncsshKeys().read(private, passphrase).public == key.export_public_key().decode().strip()
        return
    with pytest.raises(InvalidError) as raised:
        AsyncsshKeys().read(private, passphrase)
    assert (raised.value.field, raised.value.fault) == ("body.passphrase", fault)


def test_a_wrong_passphrase_is_told_also_where_it_decrypts_to_something() -> None:
    """Of 256 wrong ones, one ends in what looks like the padding of the cipher."""
    key = (
        asyncssh.generate_private_key("ecdsa-sha2-nistp256").export_private_key("pkcs1-pem", passphrase="tea").decode()
    )
    for number in range(1500):
        with pytest.raises(InvalidError) as raised:
            AsyncsshKeys().read(key, f"coffee {number}")
        assert raised.value.fault == "key_passphrase_wrong"


@pytest.mark.parametrize("text", ["", "no key", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"])
def test_what_is_no_whole_key_is_told_of_the_key(text: str) -> None:
    with pytest.raises(InvalidError) as raised:
        AsyncsshKeys().read(text, None)
    assert (raised.value.field, raised.value.fault) == ("body.private_key", "key_unreadable")
