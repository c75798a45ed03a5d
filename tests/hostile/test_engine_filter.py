"""A sandbox manager that was taken over: whatever it asks for at the only socket it has, it stays where it is."""

from __future__ import annotations

import io
import json
import secrets
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import docker
import pytest
from docker.errors import APIError, NotFound

from support.compose_stack import ComposeStack
from support.compose_stack import docker as docker_command
from support.engine import of_stack, remove_stack
from support.engine_filters import engine_filter
from support.sandboxes import sandbox_image, why_no_docker

pytestmark = pytest.mark.timeout(300)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Siege:
    """Two stacks at one engine: `api` is the filtered socket of one, `victim` a container of the other."""

    api: Any
    stack: str
    victim: str
    foreign_network: str
    foreign_volume: str

    def body(self, host: Json | None = None, **top: Any) -> Json:
        """One that would be let through, but for what is changed."""
        body = {
            "Image": sandbox_image(),
            "User": "0:0",
            "Entrypoint": ["sleep", "60"],
            "Cmd": [],
            "Labels": {"agent-sandbox.stack": self.stack},
        }
        config = {
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges:true"],
            "ReadonlyRootfs": True,
            "Memory": 64 << 20,
            "PidsLimit": 16,
            "NetworkMode": "none",
        }
        return body | {"HostConfig": config | (host or {})} | top

    def make(self, body: Json, name: str = "x") -> str:
        return str(self.api.create_container_from_config(body, f"{self.stack}-{name}")["Id"])

    def post(self, path: str, body: object = None, **more: Any) -> None:
        self.api._raise_for_status(self.api._post(f"{self.api.base_url}/v1.41{path}", json=body, **more))

    def get(self, path: str) -> None:
        self.api._raise_for_status(self.api._get(f"{self.api.base_url}/v1.41{path}"))

    def volume(self, name: str, **options: str) -> None:
        labels = {"agent-sandbox.stack": self.stack, "agent-sandbox.same-as": f"{self.stack}-ws-base"}
        self.api.create_volume(f"{self.stack}-ws-{name}", "local", options, labels)

    def network(self, name: str = "n", **changed: Any) -> None:
        ipam = {"Driver": "default", "Config": [{"Subnet": "10.201.255.240/28"}]}
        body = {"Name": f"{self.stack}-net-{name}", "Driver": "bridge", "IPAM": ipam}
        labels = {"agent-sandbox.stack": self.stack}
        self.post("/networks/create", body | {"Labels": labels} | changed)


@pytest.fixture(scope="module")
def siege() -> Iterator[Siege]:
    if (reason := why_no_docker()) is not None:
        pytest.skip(reason)
    own, other = f"own{secrets.token_hex(3)}", f"other{secrets.token_hex(3)}"
    labels = {"agent-sandbox.stack": other}
    with closing(docker.from_env()) as engine, engine_filter(own) as address:
        try:
            volume = engine.volumes.create(f"{other}-ws-1", labels=labels)
            network = engine.networks.create(f"{other}-net-1", labels=labels)
            victim = engine.containers.run(
                sandbox_image(),
                entrypoint=["sleep", "600"],
                name=f"{other}-1",
                labels=labels,
                environment={"SECRET": "of another stack"},
                volumes={volume.name: {"bind": "/workspace"}},
                network=network.name,
                detach=True,
            )
            with closing(docker.APIClient(base_url=address, version="auto", timeout=30)) as api:
                siege = Siege(api, own, str(victim.id), str(network.name), str(volume.name))
                siege.volume("base")
                yield siege
            victim.reload()
            assert victim.status == "running"
        finally:
            remove_stack(own)
            remove_stack(other)


def test_a_helper_that_leads_nowhere_may_be_made_and_removed(siege: Siege) -> None:
    made = siege.make(siege.body({"Mounts": [_mount(f"{siege.stack}-ws-base")]}))
    siege.api.start(made)
    assert siege.api.inspect_container(made)["State"]["Running"]
    siege.api.remove_container(made, force=True)
    assert of_stack(siege.stack)["containers"] == []


def _mount(source: str, kind: str = "volume") -> Json:
    return {"Type": kind, "Source": source, "Target": "/workspace"}


MADE: dict[str, Callable[[Siege], Json]] = {
    "privileged": lambda at: at.body({"Privileged": True}),
    "privileged, in the letters of another reader": lambda at: at.body({"privileged": True}),
    "a host config beside the host config": lambda at: at.body(hostconfig={"Privileged": True}),
    "the root of the host": lambda at: at.body({"Binds": ["/:/host"]}),
    "the root of the host as a mount": lambda at: at.body({"Mounts": [_mount("/", "bind")]}),
    "the engine's socket": lambda at: at.body({"Binds": ["/var/run/docker.sock:/run/docker.sock"]}),
    "the host's processes": lambda at: at.body({"PidMode": "host"}),
    "the host's network": lambda at: at.body({"NetworkMode": "host"}),
    "the host's memory": lambda at: at.body({"IpcMode": "host"}),
    "the host's names": lambda at: at.body({"UTSMode": "host"}),
    "the host's cgroups": lambda at: at.body({"CgroupnsMode": "host"}),
    "a cgroup of the host": lambda at: at.body({"CgroupParent": "/"}),
    "a disk": lambda at: at.body({"Devices": [{"PathOnHost": "/dev/sda", "PathInContainer": "/dev/sda"}]}),
    "all devices": lambda at: at.body({"DeviceCgroupRules": ["a *:* rwm"]}),
    "SYS_ADMIN": lambda at: at.body({"CapAdd": ["SYS_ADMIN"]}),
    "SYS_PTRACE": lambda at: at.body({"CapAdd": ["SYS_PTRACE"]}),
    "every capability it had": lambda at: at.body({"CapDrop": []}),
    "no seccomp": lambda at: at.body({"SecurityOpt": ["no-new-privileges:true", "seccomp=unconfined"]}),
    "no AppArmor": lambda at: at.body({"SecurityOpt": ["no-new-privileges:true", "apparmor=unconfined"]}),
    "the host's kernel settings": lambda at: at.body({"Sysctls": {"kernel.core_pattern": "|/x"}}),
    "another stack's files": lambda at: at.body({"Mounts": [_mount(at.foreign_volume)]}),
    "another stack's volumes": lambda at: at.body({"VolumesFrom": [at.victim]}),
    "another stack's network": lambda at: at.body({"NetworkMode": at.foreign_network}),
    "another container's network": lambda at: at.body(
        {"NetworkMode": f"container:{at.victim}", "CapAdd": ["NET_ADMIN"]}
    ),
    "another container's processes": lambda at: at.body({"PidMode": f"container:{at.victim}"}),
    "another image": lambda at: at.body(Image=_other_image()),
    "another stack's label": lambda at: at.body(Labels={"agent-sandbox.stack": "other"}),
    "memory without end": lambda at: at.body({"Memory": 0}),
    "processes without end": lambda at: at.body({"PidsLimit": 0}),
    "a published port": lambda at: at.body({"PortBindings": {"80/tcp": [{"HostPort": "8099"}]}}),
}


def _other_image() -> str:
    with closing(docker.from_env()) as engine:
        names = [tag for image in engine.images.list() for tag in image.tags]
    return next((name for name in names if "sandbox:" not in name), "debian:bookworm")


@pytest.mark.parametrize("name", MADE)
def test_no_container_is_made_that_leads_out(siege: Siege, name: str) -> None:
    with pytest.raises(APIError, match="engine filter") as refused:
        siege.make(MADE[name](siege))
    assert refused.value.status_code in (400, 403)
    assert of_stack(siege.stack)["containers"] == []


def _tar() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w"):
        pass
    return data.getvalue()


DONE: dict[str, Callable[[Siege], Any]] = {
    "run a command in another's container": lambda at: at.api.exec_create(at.victim, ["cat", "/workspace/x"]),
    "run a command by its id": lambda at: at.post(f"/exec/{'a' * 64}/start", {"Detach": False}),
    "attach to it": lambda at: at.api.attach_socket(at.victim, params={"stdin": 1, "stdout": 1, "stream": 1}),
    "attach to it over a WebSocket": lambda at: at.get(f"/containers/{at.victim}/attach/ws"),
    "read its secrets": lambda at: at.api.inspect_container(at.victim),
    "read what it says": lambda at: at.api.logs(at.victim),
    "see what it does": lambda at: at.api.top(at.victim),
    "copy out of it": lambda at: at.api.get_archive(at.victim, "/etc/passwd"),
    "copy into it": lambda at: at.api.put_archive(at.victim, "/", _tar()),
    "export it": lambda at: at.api.export(at.victim),
    "commit it": lambda at: at.api.commit(at.victim, "stolen"),
    "pause it": lambda at: at.api.pause(at.victim),
    "stop it": lambda at: at.api.stop(at.victim),
    "kill it": lambda at: at.api.kill(at.victim),
    "lift its limits": lambda at: at.api.update_container(at.victim, mem_limit=1 << 40),
    "rename it": lambda at: at.api.rename(at.victim, "x"),
    "remove it": lambda at: at.api.remove_container(at.victim, force=True),
    "remove it by part of its id": lambda at: at.api.remove_container(at.victim[:12], force=True),
    "remove its network": lambda at: at.api.remove_network(at.foreign_network),
    "take it out of its network": lambda at: at.api.disconnect_container_from_network(at.victim, at.foreign_network),
    "join its network": lambda at: at.api.connect_container_to_network(at.victim, at.foreign_network),
    "remove its files": lambda at: at.api.remove_volume(at.foreign_volume),
    "look for its files": lambda at: at.api.inspect_volume(at.foreign_volume),
    "bind a folder of the host": lambda at: at.volume("etc", type="none", o="bind", device="/etc"),
    "bind another's files": lambda at: at.volume(
        "theirs", type="none", o="bind", device=f"/var/lib/docker/volumes/{at.foreign_volume}/_data"
    ),
    "bind a folder beside its own": lambda at: at.volume(
        "up",
        type="none",
        o="bind",
        device=f"/var/lib/docker/volumes/{at.stack}-ws-base/_data/../../{at.foreign_volume}",
    ),
    "bind the files of all": lambda at: at.volume("all", type="none", o="bind", device="/var/lib/docker/volumes"),
    "mount a disk": lambda at: at.volume("disk", type="ext4", o="", device="/dev/sda1"),
    "mount the network's files": lambda at: at.volume("nfs", type="nfs", o="addr=10.0.0.1", device=":/"),
    "take the host's bridge": lambda at: at.network(Options={"com.docker.network.bridge.name": "docker0"}),
    "a network on the host's card": lambda at: at.network(Driver="macvlan", Options={"parent": "eth0"}),
    "a network of the neighbours' addresses": lambda at: at.network(IPAM={"Config": [{"Subnet": "192.168.0.0/24"}]}),
    "pull an image": lambda at: at.api.pull("debian:bookworm"),
    "build an image": lambda at: at.post("/build?remote=https://example.com/x.git"),
    "give another image our name": lambda at: at.api.tag(_other_image(), "agent-sandbox"),
    "load an image": lambda at: at.post("/images/load", data=_tar()),
    "remove our image": lambda at: at.api.remove_image(sandbox_image()),
    "list what images there are": lambda at: at.api.images(),
    "see the whole system": lambda at: at.api.df(),
    "throw away volumes": lambda at: at.api.prune_volumes(),
    "throw away containers": lambda at: at.api.prune_containers(),
    "become a swarm": lambda at: at.api.init_swarm("127.0.0.1"),
    "install a plugin": lambda at: at.post("/plugins/pull?remote=x", []),
    "read the swarm's secrets": lambda at: at.api.secrets(),
}


@pytest.mark.parametrize("name", DONE)
def test_nothing_is_done_to_others(siege: Siege, name: str) -> None:
    with pytest.raises(APIError, match="engine filter") as refused:
        list(DONE[name](siege) or ())  # what comes as a stream is asked for when it is read
    assert refused.value.status_code in (400, 403)
    assert of_stack(siege.stack) == {"containers": [], "networks": [], "volumes": [f"{siege.stack}-ws-base"]}


def test_lists_and_news_are_of_its_own_alone(siege: Siege) -> None:
    told = json.dumps([siege.api.containers(all=True), siege.api.volumes(), siege.api.networks(), siege.api.info()])
    assert siege.victim not in told
    assert siege.foreign_volume not in told
    assert "of another stack" not in told
    assert siege.foreign_network in told, "which addresses are taken is told, and by whose network"
    (theirs,) = [one for one in siege.api.networks() if one["Name"] == siege.foreign_network]
    assert theirs.keys() <= {"Name", "Id", "Driver", "Scope", "IPAM"}
    with pytest.raises(NotFound):
        siege.api.inspect_volume(f"{siege.stack}-ws-missing")


INSIDE = """
import http.client, json, os, socket
told = {"engine": os.path.exists("/var/run/docker.sock")}
class Filtered(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("/run/engine/engine.sock")
def asked(method, path, body=None):
    connection = Filtered("engine", timeout=20)
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    return connection.getresponse().status
stack = os.environ["COMPOSE_PROJECT_NAME"]
body = {"Image": os.environ["SANDBOX_IMAGE"], "Labels": {"agent-sandbox.stack": stack}}
told["ping"] = asked("GET", "/_ping")
told["made"] = asked("POST", f"/containers/create?name={stack}-x", body | {"HostConfig": {"Privileged": True}})
told["gateway"] = asked("GET", "/containers/%s/json")
try:
    os.replace("/run/engine/engine.sock", "/run/engine/other")
    told["moved"] = True
except OSError:
    told["moved"] = False
print(json.dumps(told))
"""


def test_in_the_whole_stack_the_manager_has_no_other_socket(compose_stack: ComposeStack) -> None:
    gateway = compose_stack.container_of("backend-api")
    manager = compose_stack.container_of("sandbox-manager")
    told = json.loads(docker_command("exec", manager, "/opt/app/venv/bin/python", "-c", INSIDE % gateway))
    assert told == {"engine": False, "ping": 200, "made": 403, "gateway": 403, "moved": False}
    (filtering,) = json.loads(docker_command("inspect", compose_stack.container_of("engine-filter")))
    assert list(filtering["NetworkSettings"]["Networks"]) == ["none"]
    assert {one["Destination"] for one in filtering["Mounts"]} == {"/var/run/docker.sock", "/run/engine"}
