"""Computers of users over HTTP: remote hosts are added, tried out, confirmed and chosen."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path

import asyncssh
import httpx
import pytest

from backend_api.sandboxes.domain.choices import (
    USUAL,
    ImageChoice,
    SandboxChoices,
    SandboxConfiguration,
    SandboxSize,
    SizeChoice,
)
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.targets.ssh.keys import AsyncsshKeys
from support.gateway import Gateway, run_gateway
from support.servers import Server
from support.sshd import NoSshdError, Sshd, run_sshd


@pytest.fixture
async def gateway(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Gateway]:
    monkeypatch.setenv("SSH_TARGETS", "any")
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as one:
        yield one


@pytest.fixture
async def sshd(tmp_path: Path) -> AsyncGenerator[Sshd]:
    try:
        async with run_sshd(tmp_path) as one:
            yield one
    except NoSshdError as error:
        pytest.skip(f"no real sshd: {error}")


def assert_problem(response: httpx.Response, status: int, code: str) -> None:
    assert (response.status_code, response.json()["code"]) == (status, code), response.text


async def test_a_host_is_added_tried_confirmed_and_chosen(gateway: Gateway, sshd: Sshd) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    host = {"name": "Build", "host": "127.0.0.1", "port": sshd.port, "username": sshd.username, "folder": "~/work"}
    made = await http.post("/api/targets", json=host, headers=anna)
    assert made.status_code == 201, made.text
    target = made.json()
    assert target["public_key"].startswith("ssh-ed25519 ")
    path = f"/api/targets/{target['id']}"
    sshd.authorize(target["public_key"])

    unconfirmed = await http.post("/api/sessions", json={"target_id": target["id"]}, headers=anna)
    assert_problem(unconfirmed, 422, "invalid")
    first = (await http.post(f"{path}/test", headers=anna)).json()
    assert (first["ok"], first["code"], first["key_state"]) == (False, "remote_host_key_unconfirmed", "unknown")
    assert [step["name"] for step in first["steps"]] == ["address", "connection", "host_key"]
    fingerprint = first["host_key"]["fingerprint"]
    key = asyncssh.import_public_key(sshd.host_key)
    assert fingerprint == key.get_fingerprint()
    wrong = await http.patch(path, json={"confirmed_fingerprint": "SHA256:another"}, headers=anna)
    assert_problem(wrong, 409, "remote_host_key_unconfirmed")
    confirmed = await http.patch(path, json={"confirmed_fingerprint": fingerprint}, headers=anna)
    assert confirmed.json()["host_key"] == {"algorithm": "ssh-ed25519", "fingerprint": fingerprint}
    second = (await http.post(f"{path}/test", headers=anna)).json()
    assert second["ok"], second
    assert (second["key_state"], second["folder"]) == ("pinned", f"{sshd.home}/work")
    assert second["shell"].startswith("Bash ")

    session = (await http.post("/api/sessions", json={"target_id": target["id"]}, headers=anna)).json()
    assert (session["target_id"], session["options"]) == (target["id"], {"enable_approval": True})
    chosen = {"target_id": target["id"], "options": {"enable_approval": False}}
    assert (await http.post("/api/sessions", json=chosen, headers=anna)).json()["options"] == {"enable_approval": False}
    moved = await http.patch(path, json={"port": 9}, headers=anna)
    assert moved.json()["host_key"] is None


async def test_a_changed_host_key_is_told_with_both_fingerprints(gateway: Gateway, sshd: Sshd) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    host = {"name": "Build", "host": "127.0.0.1", "port": sshd.port, "username": sshd.username}
    target = (await http.post("/api/targets", json=host, headers=anna)).json()
    path = f"/api/targets/{target['id']}"
    first = (await http.post(f"{path}/test", headers=anna)).json()["host_key"]["fingerprint"]
    await http.patch(path, json={"confirmed_fingerprint": first}, headers=anna)
    await sshd.stop()
    sshd.make_host_key()
    await sshd.start()
    trial = (await http.post(f"{path}/test", headers=anna)).json()
    assert (trial["code"], trial["key_state"]) == ("remote_host_key_changed", "changed")
    detail = trial["steps"][-1]["detail"]
    assert first in detail
    assert trial["host_key"]["fingerprint"] in detail


async def test_a_pasted_key_is_sealed_and_never_given_back(gateway: Gateway) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    key = asyncssh.import_private_key(AsyncsshKeys().generate("mine").private)
    private = key.export_private_key(passphrase="tea").decode()
    host = {"name": "Build", "host": "192.0.2.7", "username": "anna", "private_key": private}
    assert_problem(await http.post("/api/targets", json=host, headers=anna), 422, "invalid")
    made = await http.post("/api/targets", json=host | {"passphrase": "tea"}, headers=anna)
    assert made.json()["public_key"] == key.export_public_key().decode().strip()
    assert "PRIVATE" not in made.text
    assert "PRIVATE" not in (await http.get("/api/targets", headers=anna)).text
    stored = await gateway.database["targets"].find_one({})
    assert stored is not None
    assert "PRIVATE" not in str(stored)
    assert set(stored["sealed"]) == {"key_id", "text"}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        pytest.param({"host": "no host"}, "body.host", marks=pytest.mark.thorough),
        ({"host": "-oProxyCommand=x"}, "body.host"),
        pytest.param({"username": "-l root"}, "body.username", marks=pytest.mark.thorough),
        ({"folder": "work"}, "body.folder"),
        pytest.param({"sign_in_by": "agent"}, "body.sign_in_by", marks=pytest.mark.thorough),
        ({"private_key": "ssh-rsa AAAA"}, "body.private_key"),
    ],
)
async def test_what_can_not_act_is_refused(gateway: Gateway, wrong: dict[str, str], field: str) -> None:
    anna = await gateway.user("anna")
    host = {"name": "Build", "host": "build.example.org", "username": "anna"} | wrong
    refused = await gateway.client.post("/api/targets", json=host, headers=anna)
    assert_problem(refused, 422, "invalid")
    assert refused.json()["errors"][0]["field"] == field


async def test_those_of_somebody_else_are_not_there(gateway: Gateway) -> None:
    http, anna, bert = gateway.client, await gateway.user("anna"), await gateway.user("bert")
    host = {"name": "Build", "host": "build.example.org", "username": "anna"}
    target = (await http.post("/api/targets", json=host, headers=anna)).json()
    assert (await http.get("/api/targets", headers=bert)).json()["items"] == []
    assert_problem(await http.post("/api/sessions", json={"target_id": target["id"]}, headers=bert), 422, "invalid")


@pytest.mark.parametrize(("access", "code"), [("off", "remote_hosts_off"), ("public", "remote_host_address_refused")])
async def test_a_deployment_says_which_hosts_there_may_be(
    mongo_server: Server,
    redis_server: Server,
    mongo_database_name: str,
    monkeypatch: pytest.MonkeyPatch,
    access: str,
    code: str,
) -> None:
    monkeypatch.setenv("SSH_TARGETS", access)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway:
        http, anna = gateway.client, await gateway.user("anna")
        host = {"name": "Build", "host": "10.0.0.7", "username": "anna"}
        made = await http.post("/api/targets", json=host, headers=anna)
        if access == "off":
            assert_problem(made, 403, code)
            return
        trial = (await http.post(f"/api/targets/{made.json()['id']}/test", headers=anna)).json()
        assert (trial["code"], [step["name"] for step in trial["steps"]]) == (code, ["address"])


LARGE = SizeChoice(name="large", size=SandboxSize(cpus=4, memory_mb=8192, disk_mb=0), counts_as=4)
PY = ImageChoice(name="py", available=True, reason=None)
GONE = ImageChoice(name="gone", available=False, reason="The image agent-sandbox:gone is missing.")


@dataclass
class Allowed:
    """What the manager allows, which may change; None: it does not answer."""

    choices: SandboxChoices | None

    async def __call__(self) -> SandboxChoices:
        if self.choices is None:
            raise SandboxUnavailableError("The service that runs the computers can't be reached.")
        return self.choices


@pytest.fixture
def allowed() -> Allowed:
    usual = SandboxSize(cpus=2, memory_mb=2048, disk_mb=10_240)
    return Allowed(SandboxChoices(default_size=usual, images=[PY, GONE], sizes=[LARGE]))


@pytest.fixture
async def choosing(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, allowed: Allowed
) -> AsyncGenerator[Gateway]:
    uri, redis = mongo_server.uri, redis_server.uri
    async with run_gateway(uri, mongo_database_name, redis, sandbox_choices=allowed) as one:
        yield one


async def test_a_sandbox_of_another_image_and_size_is_added_tried_changed_and_chosen(choosing: Gateway) -> None:
    http, anna = choosing.client, await choosing.user("anna")
    offered = (await http.get("/api/targets/choices", headers=anna)).json()
    assert [(one["name"], one["available"]) for one in offered["images"]] == [("py", True), ("gone", False)]
    assert offered["sizes"] == [{"name": "large", "size": {"cpus": 4, "memory_mb": 8192, "disk_mb": 0}, "counts_as": 4}]

    wanted = {"name": "Big", "kind": "sandbox", "image": "py", "size": "large"}
    made = await http.post("/api/targets", json=wanted, headers=anna)
    assert made.status_code == 201, made.text
    target = made.json()
    assert {name: target[name] for name in wanted} == wanted
    path = f"/api/targets/{target['id']}"
    trial = (await http.post(f"{path}/test", headers=anna)).json()
    assert (trial["ok"], [step["name"] for step in trial["steps"]]) == (True, ["image", "size"])

    session = (await http.post("/api/sessions", json={"target_id": target["id"]}, headers=anna)).json()
    assert (session["target_id"], session["options"]) == (target["id"], {})
    made_of = choosing.ports.modules.ports["sandbox_configurations"]
    assert await made_of(session["id"]) == SandboxConfiguration(image="py", size="large")
    usual = (await http.post("/api/sessions", json={}, headers=anna)).json()
    assert await made_of(usual["id"]) == USUAL

    changed = await http.patch(path, json={"name": "Plain", "image": None}, headers=anna)
    assert (changed.json()["name"], changed.json()["image"], changed.json()["size"]) == ("Plain", None, "large")
    assert await made_of(session["id"]) == SandboxConfiguration(size="large")
    assert (await http.delete(path, headers=anna)).status_code == 204
    assert await made_of(session["id"]) == USUAL


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"image": "other"}, "body.image"),
        pytest.param({"size": "huge"}, "body.size", marks=pytest.mark.thorough),
        pytest.param({}, "body.image", marks=pytest.mark.thorough),
        ({"size": "large", "host": "build.example.org"}, "body.host"),
    ],
)
async def test_what_can_be_no_sandbox_is_refused_at_its_field(
    choosing: Gateway, wrong: dict[str, str], field: str
) -> None:
    http, anna = choosing.client, await choosing.user("anna")
    refused = await http.post("/api/targets", json={"name": "Big", "kind": "sandbox"} | wrong, headers=anna)
    assert_problem(refused, 422, "invalid")
    assert refused.json()["errors"][0]["field"] == field
    host = {"name": "Build", "host": "192.0.2.7", "username": "anna", "size": "large"}
    assert_problem(await http.post("/api/targets", json=host, headers=anna), 422, "invalid")


async def test_one_that_is_no_longer_allowed_says_so_at_its_test_and_for_new_conversations(
    choosing: Gateway, allowed: Allowed
) -> None:
    http, anna = choosing.client, await choosing.user("anna")
    wanted = {"name": "Big", "kind": "sandbox", "image": "gone", "size": "large"}
    target = (await http.post("/api/targets", json=wanted, headers=anna)).json()
    path = f"/api/targets/{target['id']}"
    missing = (await http.post(f"{path}/test", headers=anna)).json()
    assert (missing["ok"], missing["code"]) == (False, "computer_not_allowed")
    assert [step["ok"] for step in missing["steps"]] == [False, True]
    assert "missing" in missing["steps"][0]["detail"]

    assert allowed.choices is not None
    allowed.choices = replace(allowed.choices, sizes=[])
    refused = (await http.post(f"{path}/test", headers=anna)).json()
    assert "Only the default is available." in refused["steps"][1]["detail"]
    assert_problem(await http.post("/api/sessions", json={"target_id": target["id"]}, headers=anna), 422, "invalid")

    allowed.choices = None
    assert_problem(await http.get("/api/targets/choices", headers=anna), 503, "computer_unavailable")
    unknown = (await http.post(f"{path}/test", headers=anna)).json()
    assert (unknown["ok"], unknown["code"]) == (False, "computer_unavailable")
    # Whether it can be made is found out once it is needed.
    assert (await http.post("/api/sessions", json={"target_id": target["id"]}, headers=anna)).status_code == 201
