"""The compose file really up: what it publishes, what it hides, the tour through nginx, and what is left after down."""

from __future__ import annotations

import errno
import json
import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import httpx
import pytest

from support.compose_stack import ComposeStack, docker, run_compose_stack
from support.stack import ROOT
from support.tls import NO_TLS

# A project goes up and down again in some tests, which takes 40 s on a busy machine, and thrice that on a slow one.
pytestmark = pytest.mark.timeout(480)
Json = dict[str, Any]
SERVICES = ("mongo", "redis", "engine-filter", "sandbox-manager", "backend-api", "worker", "frontend")
HEALTHY_S = 60.0


def inspected(container: str) -> Json:
    return cast("list[Json]", json.loads(docker("inspect", container)))[0]


@contextmanager
def api_of(stack: ComposeStack) -> Iterator[httpx.Client]:
    """A client of a person who has just registered."""
    with httpx.Client(base_url=f"{stack.base_url}/api", timeout=90, trust_env=False, verify=NO_TLS) as client:
        person = {"username": f"u{secrets.token_hex(5)}", "password": secrets.token_hex(12)}
        registered = client.post("/auth/register", json=person)
        assert registered.status_code == 201, registered.text
        client.headers["Authorization"] = f"Bearer {registered.json()['access_token']}"
        yield client


def run_to_the_end(client: httpx.Client, session: str, text: str) -> list[Json]:
    """The events of one run, read as the browser reads them."""
    accepted = client.post(f"/sessions/{session}/messages", json={"text": text}).json()
    events: list[Json] = []
    with client.stream("GET", f"/sessions/{session}/events", params={"after": accepted["seq"]}) as stream:
        for line in stream.iter_lines():
            if line.startswith("data:"):
                events.append(json.loads(line.removeprefix("data:")))
                if events[-1]["type"] == "run.finished":
                    break
    return events


def new_session(client: httpx.Client) -> str:
    return str(client.post("/sessions", json={}).json()["id"])


def sandboxes(stack: ComposeStack) -> list[str]:
    label = f"label=agent-sandbox.stack={stack.project}"
    return docker("ps", "-aq", "--filter", label).split()


def test_every_service_is_healthy(compose_stack: ComposeStack) -> None:
    def health(service: str) -> str:
        return str(inspected(compose_stack.container_of(service))["State"]["Health"]["Status"])

    wanted = dict.fromkeys((one for one in SERVICES if one != "frontend"), "healthy")
    until = time.monotonic() + HEALTHY_S
    while (found := {service: health(service) for service in wanted}) != wanted and time.monotonic() < until:
        time.sleep(0.5)  # `up` waits for what others depend on, and nobody for the workers
    assert found == wanted


def test_only_the_frontend_publishes_ports_and_only_on_loopback(compose_stack: ComposeStack) -> None:
    for service in SERVICES:
        bindings = inspected(compose_stack.container_of(service))["HostConfig"]["PortBindings"] or {}
        addresses = {binding["HostIp"] for ports in bindings.values() for binding in ports}
        assert addresses == ({"127.0.0.1"} if service == "frontend" else set()), service


def test_every_service_runs_with_the_least_it_needs(compose_stack: ComposeStack) -> None:
    for service in SERVICES:
        found = inspected(compose_stack.container_of(service))
        host = found["HostConfig"]
        assert host["ReadonlyRootfs"], service
        assert host["CapDrop"] == ["ALL"], service
        assert "no-new-privileges:true" in host["SecurityOpt"], service
        assert not host["Privileged"], service
        assert found["Config"]["User"] not in ("", "root", "0"), service
        has_socket = any(mount["Destination"] == "/var/run/docker.sock" for mount in found["Mounts"])
        assert has_socket == (service == "engine-filter"), service
        assert (host["NetworkMode"] == "none") == (service == "engine-filter"), service


def test_page_and_documentation_are_served(compose_stack: ComposeStack) -> None:
    page = httpx.get(compose_stack.base_url, trust_env=False, verify=NO_TLS)
    assert page.status_code == 200
    assert "<div id=" in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert httpx.get(f"{compose_stack.api_url}/docs", trust_env=False, verify=NO_TLS).status_code == 200
    assert httpx.get(f"{compose_stack.api_url}/metrics", trust_env=False, verify=NO_TLS).status_code == 404


def test_the_tour_goes_through_the_proxy_to_its_end(compose_stack: ComposeStack) -> None:
    with api_of(compose_stack) as client:
        session = new_session(client)
        events = run_to_the_end(client, session, "Show me what you can do")
        assert events[-1]["status"] == "completed"
        assert [event["preview"] for event in events if event["type"] == "tool.finished" and not event["success"]] == []
        written = [path for event in events if event["type"] == "files.changed" for path in event["paths"]]
        download = client.get(f"/sessions/{session}/files/download", params={"path": written[0]})
        assert download.status_code == 200
        assert download.content
        assert client.delete(f"/sessions/{session}").status_code == 204


def test_a_stream_reaches_the_reader_while_it_is_written(compose_stack: ComposeStack) -> None:
    with api_of(compose_stack) as client:
        session = new_session(client)
        accepted = client.post(f"/sessions/{session}/messages", json={"text": "stream 200"}).json()
        seen: list[str] = []
        with client.stream("GET", f"/sessions/{session}/events", params={"after": accepted["seq"]}) as stream:
            for line in stream.iter_lines():
                if line.startswith("event:"):
                    seen.append(line.removeprefix("event:").strip())
                    if seen[-1] in ("message.completed", "run.finished"):
                        break
        assert seen.count("message.delta") > 3
        client.delete(f"/sessions/{session}")


def test_an_upload_over_the_limit_is_refused_in_the_gateways_words(compose_stack: ComposeStack) -> None:
    with api_of(compose_stack) as client:
        session = new_session(client)
        run_to_the_end(client, session, "run true")
        fits = client.post(f"/sessions/{session}/files", files=[("files", ("fits.bin", b"x" * (9 << 20)))])
        assert fits.status_code == 201, fits.text
        too_large = client.post(f"/sessions/{session}/files", files=[("files", ("large.bin", b"x" * (11 << 20)))])
        assert too_large.status_code == 413
        assert too_large.headers["content-type"].startswith("application/problem+json")
        # Refused before all of it had come: what is sent on this connection next would be lost.
        assert "close" in too_large.headers["connection"]
        client.delete(f"/sessions/{session}")


def test_a_sandbox_reaches_no_service(compose_stack: ComposeStack) -> None:
    ports = {"mongo": 27017, "redis": 6379, "sandbox-manager": 8100}
    ports |= {"backend-api": 8000, "worker": 8010, "frontend": 5173}
    with api_of(compose_stack) as client:
        session = new_session(client)
        run_to_the_end(client, session, "run true")
        (sandbox,) = sandboxes(compose_stack)
        targets = [
            f"{network['IPAddress']}:{port}"
            for service, port in ports.items()
            for network in inspected(compose_stack.container_of(service))["NetworkSettings"]["Networks"].values()
        ]
        probe = (
            'for t in $@; do timeout 2 bash -c "exec 3<>/dev/tcp/${t%:*}/${t#*:}" 2>/dev/null && echo $t; done; true'
        )
        reached = docker("exec", sandbox, "bash", "-c", probe, "probe", *targets)
        assert reached.split() == []
        (redis,) = inspected(compose_stack.container_of("redis"))["NetworkSettings"]["Networks"].values()
        ask = "import socket, sys; print(socket.socket().connect_ex((sys.argv[1], 6379)))"
        told = docker("exec", sandbox, "python3", "-c", ask, redis["IPAddress"])
        assert int(told) == errno.EHOSTUNREACH, "the way there is closed by Docker alone, which opens it for moments"
        itself = docker("exec", sandbox, "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7000 && echo open")
        assert itself.strip() == "open", "the probe can't see even what is there"
        client.delete(f"/sessions/{session}")


def test_a_missing_secret_stops_the_start_by_name() -> None:
    environ = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME")}
    for missing in ("JWT_SECRET_KEY", "SANDBOX_MANAGER_TOKEN", "REDIS_PASSWORD"):
        given = dict.fromkeys(("JWT_SECRET_KEY", "SANDBOX_MANAGER_TOKEN", "REDIS_PASSWORD"), "x" * 40)
        given[missing] = ""
        compose = "docker compose" if has_plugin() else "docker-compose"
        done = subprocess.run(
            ["bash", "-c", f"{compose} -f docker-compose.yml config -q"],
            env=environ | given,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode != 0
        assert missing in done.stderr


def has_plugin() -> bool:
    return subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0


@pytest.mark.thorough
@pytest.mark.parametrize("manager_dies", [False, True])
def test_down_leaves_nothing_not_even_sandboxes_of_a_killed_manager(manager_dies: bool) -> None:
    with run_compose_stack() as stack:
        with api_of(stack) as client:
            (*_, end) = run_to_the_end(client, new_session(client), "run true")
        assert end["status"] == "completed", end
        assert len(sandboxes(stack)) == 1
        if manager_dies:
            docker("kill", stack.container_of("sandbox-manager"))
        stack.run("down")
        assert sandboxes(stack) == []
        assert stack.containers() == {}
        assert stack.networks() == {}
        stack.run("down", "-v")
        assert stack.volumes() == {}
