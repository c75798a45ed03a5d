"""What the rules of a sandbox's network are made from."""

from __future__ import annotations

import os
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.packet_filter import (
    HOST_FIB_TRIE,
    FilterExceptions,
    HostNetworks,
    engine_host_trie,
    host_networks,
    networks_of,
    rules,
)
from sandbox_manager.infrastructure.runtimes.process.network import NetworkRules
from sandbox_manager.infrastructure.runtimes.process.processes import reference

TRIE = """
Main:
  +-- 0.0.0.0/0 3 0 4
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.0
           /8 host LOCAL
        |-- 127.0.0.1
           /32 host LOCAL
     |-- 198.51.100.0
        /24 link UNICAST
        /25 host LOCAL
     |-- 203.0.113.9
        /32 host LOCAL
        /32 link BROADCAST
     |-- 10.0.2.255
        /32 link BROADCAST
Local:
     |-- 203.0.113.9
        /32 host LOCAL
"""


def test_every_address_of_a_machine_is_read_once_and_none_of_others(tmp_path: Path) -> None:
    (tmp_path / "trie").write_text(TRIE)

    found = host_networks(tmp_path / "trie")

    assert found == [IPv4Network("198.51.100.0/25"), IPv4Network("203.0.113.9/32")]


def test_a_manager_in_a_container_reads_what_is_mounted_there(tmp_path: Path) -> None:
    mounted = tmp_path / "fib_trie"
    assert engine_host_trie(mounted) == HOST_FIB_TRIE
    mounted.touch()
    assert engine_host_trie(mounted) == mounted


def test_a_table_that_says_nothing_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "empty").touch()
    for name in ("missing", "binary", "empty"):
        with pytest.raises(EngineUnavailableError, match="addresses of this host"):
            HostNetworks(tmp_path / name)()


def test_a_host_without_a_network_has_nothing_to_close(tmp_path: Path) -> None:
    (tmp_path / "trie").write_text("|-- 127.0.0.1\n   /32 host LOCAL\n")
    assert HostNetworks(tmp_path / "trie")() == []


def test_who_says_that_there_is_no_table_to_read_is_told_what_that_means(caplog: pytest.LogCaptureFixture) -> None:
    assert host_networks(Path("/dev/null")) == []
    assert "addresses of the host are not closed" in caplog.text


def test_what_was_closed_stays_so_while_the_table_can_not_be_read(tmp_path: Path) -> None:
    trie = tmp_path / "trie"
    trie.write_text(TRIE)
    networks = HostNetworks(trie)
    found = networks()
    trie.unlink()

    assert networks() == found != []


def test_overlapping_networks_are_written_once() -> None:
    closed = networks_of(["10.0.0.0/8", "10.201.0.0/16", "10.0.0.1/32", "fd00::/8", "192.168.7.9/24"])

    written = rules(FilterExceptions.with_resolver("10.0.2.3"), closed)

    assert "10.0.0.0/8, 127" in written
    assert "10.201" not in written
    assert "192.168.7.0/24" in written
    assert "fd00" not in written


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match="evil"):
        networks_of(["evil; flush ruleset"])
    with pytest.raises(ValueError, match="flush"):
        FilterExceptions.with_resolver("10.0.2.3 accept; flush ruleset")


def test_no_process_sandbox_gets_a_network_while_the_host_is_not_known(tmp_path: Path) -> None:
    unknown = NetworkRules((), tmp_path / "missing")
    itself = reference(os.getpid())
    assert itself is not None
    with pytest.raises(EngineUnavailableError, match="addresses of this host"):
        unknown.wanted()
    unknown.renew([itself])
