"""Authorities of the machine in Chrome's database, with the real certutil."""

from __future__ import annotations

import datetime
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from support.desktops import desktop_settings
from tool_api.desktop.settings import DesktopSettings
from tool_api.desktop.trust import trust_authorities

needs_certutil = pytest.mark.skipif(shutil.which("certutil") is None, reason="certutil is not installed")


@pytest.fixture
def settings() -> Iterator[DesktopSettings]:
    with desktop_settings() as made:
        authorities = made.run_dir.parent / "authorities"
        authorities.mkdir()
        yield replace(made, authorities=authorities)


def authority(name: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def trusted(settings: DesktopSettings) -> str:
    database = settings.home / ".pki" / "nssdb"
    return subprocess.run(
        ["certutil", "-d", f"sql:{database}", "-L"], capture_output=True, text=True, check=True, timeout=10
    ).stdout


@needs_certutil
async def test_each_authority_of_the_machine_is_trusted(settings: DesktopSettings) -> None:
    for name in ("one", "two"):
        (settings.authorities / f"{name}.crt").write_bytes(authority(name))
    await trust_authorities(settings)

    lines = [line.split() for line in trusted(settings).splitlines()]
    assert ["one", "C,,"] in lines
    assert ["two", "C,,"] in lines


@needs_certutil
async def test_a_broken_certificate_stops_nothing(settings: DesktopSettings) -> None:
    (settings.authorities / "broken.crt").write_text("not a certificate")

    await trust_authorities(settings)


async def test_without_certutil_nothing_is_written(settings: DesktopSettings, tmp_path: Path) -> None:
    (settings.authorities / "one.crt").write_bytes(authority("one"))
    await trust_authorities(replace(settings, search_path=str(tmp_path)))

    assert not (settings.home / ".pki").exists()
