"""Which calls reach the engine, in which words, and what of its answers is shown."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, quote

from engine_filter.server import Filter
from support.filtered import FOLDER, FOREIGN, FOREIGN_NETWORK, GATEWAY, OWN, OWN_LABELS, POLICY, Json, Setting


def guard_body(joins: str) -> Json:
    return {
        "Image": "sandbox:1",
        "User": "0:0",
        "Labels": OWN_LABELS,
        "HostConfig": {
            "CapDrop": ["ALL"],
            "CapAdd": ["NET_ADMIN"],
            "SecurityOpt": ["no-new-privileges:true"],
            "ReadonlyRootfs": True,
            "Memory": 64 << 20,
            "PidsLimit": 16,
            "NetworkMode": joins,
        },
    }


def archive_body(volume: str) -> Json:
    body = guard_body("none")
    mount = {"Type": "volume", "Source": volume, "Target": "/workspace"}
    body["HostConfig"] |= {"CapAdd": [], "Mounts": [mount]}
    return body


def sandbox_body(network: str) -> Json:
    body = guard_body(network) | {"User": "1000:1000"}
    body["HostConfig"] |= {"CapAdd": [], "NanoCpus": 1_000_000_000}
    return body


async def test_only_the_socket_of_the_one_user_is_made(between: Setting) -> None:
    assert between.socket.stat().st_mode & 0o777 == 0o600


async def test_answers_are_shown_as_far_as_they_are_needed(between: Setting) -> None:
    assert await between.ask("GET", "/_ping") == (200, "OK")
    assert await between.ask("GET", "/version") == (200, {"ApiVersion": "1.41"})
    assert await between.ask("GET", "/v1.41/info") == (200, {"ID": "X"})
    assert await between.ask("GET", "/v1.41/images/sandbox:1/json") == (200, {"Id": "sha256:1"})
    for target in ("/containers/json?all=1", "/networks", "/volumes"):
        status, told = await between.ask("GET", f"/v1.41{target}")
        assert status == 200
        assert "secret" not in json.dumps(told)
        assert "own" in json.dumps(told) or OWN in json.dumps(told)
    _, listed = await between.ask("GET", "/v1.41/networks")
    assert listed[1] == {"Name": "x", "Id": FOREIGN_NETWORK, "IPAM": {"Config": [{"Subnet": "10.0.0.0/8"}]}}


async def test_lists_are_asked_for_by_our_own_label(between: Setting) -> None:
    async def filters_of(target: str) -> Json:
        await between.ask("GET", target)
        return json.loads(parse_qs(between.engine.asked[-1][1].partition("?")[2])["filters"][0])

    own = {"label": ["agent-sandbox.stack=own"]}
    assert await filters_of("/v1.41/containers/json") == own
    assert await filters_of("/v1.41/volumes") == own
    endpoint = quote('{"label": ["agent-sandbox.door-client=own"]}')
    assert await filters_of(f"/v1.41/containers/json?filters={endpoint}") == {
        "label": ["agent-sandbox.door-client=own"]
    }
    other = quote('{"label": ["agent-sandbox.stack=other"]}')
    assert own["label"][0] in (await filters_of(f"/v1.41/containers/json?filters={other}"))["label"]


async def test_events_are_of_own_containers_whatever_was_asked_for(between: Setting) -> None:
    reader, writer = await asyncio.open_unix_connection(between.socket)
    writer.write(b"GET /v1.41/events?filters=%7B%22type%22%3A%5B%22plugin%22%5D%7D HTTP/1.1\r\nHost: x\r\n\r\n")
    async with asyncio.timeout(10):
        await reader.readuntil(b"{}")
        assert "agent-sandbox.stack%3Down" in between.engine.asked[-1][1]
        assert "plugin" not in between.engine.asked[-1][1]
        writer.close()
        while between.engine.open:
            await asyncio.sleep(0.01)  # the engine's part ends with ours


async def test_a_container_is_called_by_its_whole_id(between: Setting) -> None:
    for verb in ("start", "pause", "unpause"):
        await between.ask("POST", f"/v1.41/containers/own-1/{verb}")
        assert between.engine.changes[-1] == ("POST", f"/v1.41/containers/{OWN}/{verb}", b"")
    await between.ask("DELETE", "/v1.41/containers/own-1?v=False&link=False&force=True")
    assert between.engine.changes[-1][1] == f"/v1.41/containers/{OWN}?v=0&link=0&force=1"
    await between.ask("POST", "/v1.41/containers/create?name=own-guard-1", guard_body("container:own-1"))
    assert json.loads(between.engine.changes[-1][2])["HostConfig"]["NetworkMode"] == f"container:{OWN}"


REFUSED: list[tuple[str, str, object]] = [
    ("POST", "/containers/other-1/start", None),
    ("POST", "/containers/other-1/pause", None),
    ("POST", "/containers/other-1/wait", None),
    ("POST", f"/containers/{GATEWAY}/pause", None),
    ("DELETE", "/containers/other-1", None),
    ("GET", "/containers/other-1/json", None),
    ("GET", f"/containers/{GATEWAY}/json", None),
    ("GET", "/containers/other-1/logs", None),
    ("GET", "/containers/other-1/stats", None),
    ("GET", "/networks/other-net-1", None),
    ("DELETE", "/networks/other-net-1", None),
    ("DELETE", "/networks/host", None),
    ("POST", "/networks/other-net-1/connect", {"Container": GATEWAY}),
    ("POST", "/networks/own-net-1/connect", {"Container": OWN}),
    ("POST", "/networks/own-net-1/connect", {"Container": FOREIGN}),
    ("POST", "/networks/own-net-1/connect", {"Container": GATEWAY, "EndpointConfig": {"Aliases": ["mongo"]}}),
    ("POST", "/networks/other-net-1/disconnect", {"Container": FOREIGN}),
    ("GET", "/volumes/own-ws-foreign", None),
    ("DELETE", "/volumes/own-ws-foreign", None),
    ("GET", "/volumes/x", None),
    ("POST", "/containers/create?name=own-x", guard_body("container:other-1")),
    ("POST", "/containers/create?name=own-x", guard_body(f"container:{GATEWAY}")),
    ("POST", "/containers/create?name=own-x", guard_body("container:nobody")),
    ("POST", "/containers/create?name=own-x", archive_body("own-ws-foreign")),
    ("POST", "/containers/create?name=own-x", archive_body("own-ws-missing")),
    ("POST", "/containers/create?name=own-x", archive_body("own-ws-evil")),
    ("POST", "/containers/create?name=other-x", archive_body("own-ws-1")),
    ("POST", "/containers/create", archive_body("own-ws-1")),
    ("POST", "/containers/create?name=own-x&platform=linux", archive_body("own-ws-1")),
    ("GET", "/images/other/json", None),
    ("GET", "/images/sandbox/json", None),
    ("POST", "/containers/own-1/exec", {"Cmd": ["sh"]}),
    ("POST", f"/exec/{OWN}/start", {}),
    ("POST", "/containers/own-1/update", {"Memory": 0}),
    ("POST", "/containers/own-1/rename?name=own-2", None),
    ("POST", "/containers/own-1/kill", None),
    ("POST", "/containers/own-1/stop", None),
    ("GET", "/containers/own-1/archive?path=/", None),
    ("PUT", "/containers/own-1/archive?path=/", None),
    ("GET", "/containers/own-1/export", None),
    ("GET", "/containers/own-1/attach/ws", None),
    ("POST", "/commit?container=own-1", {}),
    ("POST", "/build", None),
    ("POST", "/build/prune", None),
    ("POST", "/images/create?fromImage=x", None),
    ("POST", "/images/load", None),
    ("DELETE", "/images/sandbox:1", None),
    ("POST", "/images/x/tag?repo=sandbox&tag=1", None),
    ("POST", "/containers/prune", None),
    ("POST", "/volumes/prune", None),
    ("POST", "/networks/prune", None),
    ("PUT", "/volumes/own-ws-1", {}),
    ("POST", "/swarm/init", {}),
    ("GET", "/secrets", None),
    ("GET", "/configs", None),
    ("POST", "/services/create", {}),
    ("GET", "/plugins", None),
    ("POST", "/plugins/pull?remote=x", None),
    ("GET", "/system/df", None),
    ("POST", "/session", None),
    ("POST", "/grpc", None),
    ("POST", "/auth", {}),
    ("GET", "/distribution/x/json", None),
    ("HEAD", "/_ping", None),
    ("OPTIONS", "/containers/json", None),
    ("DELETE", "/containers/own-1?v=1", None),
    ("DELETE", "/containers/own-1?link=1", None),
    ("GET", "/containers/own-1/stats?stream=1", None),
    ("GET", "/containers/own-1/logs?since=1", None),
    ("GET", "/containers/json?filters=%7B%22name%22%3A%5B%22x%22%5D%7D", None),
    ("POST", "/containers/own-1/start?checkpoint=x", None),
    ("POST", "/containers/own-1/start", {"Binds": ["/:/x"]}),
]


async def test_what_the_manager_does_not_need_is_refused(between: Setting) -> None:
    for method, target, body in REFUSED:
        status, told = await between.ask(method, f"/v1.41{target}", body)
        if method != "HEAD":
            assert "engine filter" in told["message"] or status == 404, target
        assert status in (400, 403, 404), (method, target)
        assert between.engine.changes == [], (method, target)


async def test_a_second_name_leads_to_an_own_volume_alone(between: Setting) -> None:
    def body(device: str, original: str | None) -> Json:
        labels = OWN_LABELS | ({} if original is None else {"agent-sandbox.same-as": original})
        options = {"type": "none", "o": "bind", "device": device}
        return {"Name": "own-ws-2", "Driver": "local", "DriverOpts": options, "Labels": labels}

    create = "/v1.41/volumes/create"
    assert (await between.ask("POST", create, body(FOLDER, "own-ws-pool")))[0] == 200
    between.engine.asked.clear()
    for device, original in (
        ("/etc", "own-ws-pool"),
        (f"{FOLDER}/..", "own-ws-pool"),
        (f"{FOLDER}/", "own-ws-pool"),
        (FOLDER, None),
        (FOLDER, "own-ws-missing"),
        ("/etc", "own-ws-evil"),
        ("/etc", "../info"),
        ("/etc", "own-ws-1/../../containers/own-1/json"),
    ):
        assert (await between.ask("POST", create, body(device, original)))[0] in (403, 404), (device, original)
    assert between.engine.changes == []
    assert not [one for one in between.engine.asked if ".." in one[1]]


async def test_an_attach_becomes_a_stream_in_both_directions(between: Setting) -> None:
    reader, writer = await asyncio.open_unix_connection(between.socket)
    writer.write(
        b"POST /v1.41/containers/own-1/attach?stdin=1&stdout=1&stream=1 HTTP/1.1\r\nHost: x\r\n"
        b"Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n"
    )
    async with asyncio.timeout(10):
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        assert await reader.readexactly(6) == b"early "
        writer.write(b"question")
        assert await reader.readexactly(8) == b"QUESTION"
        writer.close()
        while between.engine.open:
            await asyncio.sleep(0.01)


async def test_a_sandbox_is_put_into_a_network_by_its_name_alone(between: Setting) -> None:
    create = "/v1.41/containers/create?name=own-x"
    # What the engine finds is the stack's own, but not by the name that was said.
    status, told = await between.ask("POST", create, sandbox_body("own-net-part"))
    assert (status, between.engine.changes) == (404, [])
    assert "no network named own-net-part" in told["message"]
    assert (await between.ask("POST", create, sandbox_body("own-net-1")))[0] == 200


async def test_figures_come_once_whatever_was_asked_for(between: Setting) -> None:
    for asked, sent in (("", "?stream=0"), ("?one-shot=1", "?one-shot=1&stream=0"), ("?stream=0", "?stream=0")):
        await between.ask("GET", f"/v1.41/containers/own-1/stats{asked}")
        assert between.engine.asked[-1][1] == f"/v1.41/containers/{OWN}/stats{sent}"


async def test_every_attach_and_nothing_else_becomes_a_stream(between: Setting) -> None:
    attach = "/v1.41/containers/own-1/attach?stream=1"
    upgrade = {"Connection": "Upgrade", "Upgrade": "tcp"}
    for target, headers in ((attach, {}), ("/v1.41/containers/own-1/start", upgrade)):
        status, told = await between.ask("POST", target, **headers)
        assert (status, "attach" in told["message"]) == (400, True), target
    assert between.engine.changes == []


async def test_an_engine_that_is_gone_is_told(between: Setting) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        async with Filter(POLICY, f"{folder}/none").listening(Path(folder, "filter")):
            status, told = await Setting(between.engine, Path(folder, "filter")).ask("GET", "/_ping")
    assert status == 503
    assert "can't be reached" in told["message"]
