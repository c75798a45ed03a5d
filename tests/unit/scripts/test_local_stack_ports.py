"""Ports of the local stack: none of two services, and the same ones as last time."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from local_stack.errors import StackError
from local_stack.ports import claim_public_port, inner_ports


def test_a_remembered_port_that_people_open_now_is_no_services(tmp_path: Path) -> None:
    remembered, public = tmp_path / "ports.json", claim_public_port("127.0.0.1", 0)
    remembered.write_text(json.dumps({"mongod": public}))

    ports = inner_ports(remembered, ("mongod", "redis"), public)

    assert len({public, *ports.values()}) == 3
    assert max(public, *ports.values()) < 32_768, "those above are given to whoever connects somewhere"
    assert json.loads(remembered.read_text()) == ports


def test_ports_stay_but_for_one_that_is_taken_by_now(tmp_path: Path) -> None:
    remembered, public = tmp_path / "ports.json", claim_public_port("127.0.0.1", 0)
    before = inner_ports(remembered, ("mongod", "redis"), public)

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", before["mongod"]))
        taken.listen()
        after = inner_ports(remembered, ("mongod", "redis"), public)

    assert after["redis"] == before["redis"]
    assert after["mongod"] != before["mongod"]


def test_a_host_that_is_not_this_machine_has_no_port_to_draw() -> None:
    with pytest.raises(StackError, match=r"HOST"):
        claim_public_port("192.0.2.1", 0)
