"""Which containers may be made: the manager's own bodies, and none of what would lead out of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from engine_filter.containers import judge_container
from engine_filter.policy import Policy, SettingsError, read_policy
from engine_filter.refusals import Refused
from engine_filter.strict_json import dumps, loads
from sandbox_manager.bootstrap.settings import DockerSettings, InsideSettings, LifecycleSettings
from support.sandboxes import ROOT

from .conftest import Json, archive_body, guard_body, sandbox_body

BODIES: dict[str, Callable[[], Json]] = {"sandbox": sandbox_body, "guard": guard_body, "archive": archive_body}


@pytest.mark.parametrize("name", BODIES)
def test_what_the_manager_asks_for_goes_through_as_it_is(policy: Policy, name: str) -> None:
    asked = BODIES[name]()
    wanted = judge_container(policy, loads(dumps(asked)))
    host, forwarded = asked["HostConfig"], wanted.body["HostConfig"]
    said = {key: value for key, value in host.items() if key not in ("SecurityOpt", "Privileged")}
    assert {key: forwarded[key] for key in said} == said
    rest = {key: value for key, value in asked.items() if key != "HostConfig" and key != "Tty"}
    assert {key: wanted.body[key] for key in rest} == rest
    assert not asked.get("Tty")
    assert [json.loads(one.removeprefix("seccomp=")) for one in forwarded["SecurityOpt"][1:]] == [
        json.loads(one.removeprefix("seccomp=")) for one in host["SecurityOpt"][1:]
    ]
    assert forwarded["Privileged"] is False
    assert forwarded["LogConfig"]["Config"]["max-size"], "the host's disk is bounded where the manager does not say how"


@pytest.mark.parametrize("verb", ["pack", "unpack", "mend", "drop"])
def test_every_archive_program_goes_through(policy: Policy, verb: str) -> None:
    wanted = judge_container(policy, archive_body(verb))
    assert len(wanted.volumes) == 2
    assert (wanted.network, wanted.joins) == (None, None)


def test_the_defaults_of_its_limits_are_the_managers() -> None:
    read = read_policy({"SANDBOX_SECCOMP_PROFILE": str(ROOT / "sandbox-image" / "seccomp.json")})
    assert read.memory_bytes == InsideSettings.model_fields["memory_mb"].default << 20
    assert read.nano_cpus == InsideSettings.model_fields["cpus"].default * 1e9
    assert read.pids == InsideSettings.model_fields["pids"].default
    assert str(read.subnet_pool) == DockerSettings.model_fields["subnet_pool"].default
    assert read.images == {DockerSettings.model_fields["image"].default}
    assert read.stack == LifecycleSettings.model_fields["stack"].default


def test_it_allows_the_images_and_the_largest_of_the_sizes_that_the_manager_may_ask_for(policy: Policy) -> None:
    read = read_policy(
        {
            "SANDBOX_SECCOMP_PROFILE": str(ROOT / "sandbox-image" / "seccomp.json"),
            "SANDBOX_IMAGES": "py=agent-sandbox:py, full=registry.example/full@sha256:ab",
            "SANDBOX_SIZES": "small=1:512,large=4:8192:1000",
        }
    )
    assert read.images == {"agent-sandbox:latest", "agent-sandbox:py", "registry.example/full@sha256:ab"}
    assert (read.memory_bytes, read.nano_cpus) == (8192 << 20, 4_000_000_000)
    assert judge_container(policy, sandbox_body() | {"Image": "agent-sandbox:other"})
    with pytest.raises(Refused):
        judge_container(policy, sandbox_body() | {"Image": "agent-sandbox:third"})


@pytest.mark.parametrize("value", ["large", "large=4", "large=a:b", "large=0:512"])
def test_sizes_that_can_be_none_refuse_its_start(value: str) -> None:
    with pytest.raises(SettingsError, match="SANDBOX_SIZES"):
        read_policy({"SANDBOX_SECCOMP_PROFILE": str(ROOT / "sandbox-image" / "seccomp.json"), "SANDBOX_SIZES": value})


HOST_CONFIG: dict[str, Any] = {
    "privileged": {"Privileged": True},
    "privileged in small letters": {"privileged": True},
    "the host's files": {"Binds": ["/:/host"]},
    "the engine's socket": {"Binds": ["/var/run/docker.sock:/run/docker.sock"]},
    "a bind mount": {"Mounts": [{"Type": "bind", "Source": "/", "Target": "/workspace"}]},
    "a bind mount in small letters": {"mounts": [{"Type": "bind", "Source": "/", "Target": "/workspace"}]},
    "a bind that looks like a volume": {"Mounts": [{"Type": "volume", "Source": "/etc", "Target": "/workspace"}]},
    "a volume without a name": {"Mounts": [{"Type": "volume", "Target": "/workspace"}]},
    "a mount of nothing": {"Mounts": [{}]},
    "a volume of nobody": {"Mounts": [{"Type": "volume", "Source": "", "Target": "/workspace"}]},
    "another stack's volume": {"Mounts": [{"Type": "volume", "Source": "other-ws-1", "Target": "/workspace"}]},
    "a volume over the programs": {"Mounts": [{"Type": "volume", "Source": "own-ws-1", "Target": "/usr"}]},
    "a volume over proc": {"Mounts": [{"Type": "volume", "Source": "own-ws-1", "Target": "/proc/sys"}]},
    "a volume with a driver": {
        "Mounts": [
            {
                "Type": "volume",
                "Source": "own-ws-1",
                "Target": "/workspace",
                "VolumeOptions": {"DriverConfig": {"Name": "local", "Options": {"type": "none", "device": "/"}}},
            }
        ]
    },
    "bind options": {
        "Mounts": [
            {"Type": "volume", "Source": "own-ws-1", "Target": "/workspace", "BindOptions": {"Propagation": "rshared"}}
        ]
    },
    "a device": {"Devices": [{"PathOnHost": "/dev/sda", "PathInContainer": "/dev/sda", "CgroupPermissions": "rwm"}]},
    "a device by request": {"DeviceRequests": [{"Count": -1, "Capabilities": [["gpu"]]}]},
    "a device by rule": {"DeviceCgroupRules": ["b *:* rwm"]},
    "the host's network": {"NetworkMode": "host"},
    "the engine's own bridge": {"NetworkMode": "bridge"},
    "a default network": {"NetworkMode": "default"},
    "no word of a network": {"NetworkMode": ""},
    "another stack's network": {"NetworkMode": "other-net-1"},
    "an edge network": {"NetworkMode": "own-edge"},
    "the host's processes": {"PidMode": "host"},
    "another container's processes": {"PidMode": "container:own-1"},
    "the host's memory": {"IpcMode": "host"},
    "another container's memory": {"IpcMode": "container:own-1"},
    "memory for others": {"IpcMode": "shareable"},
    "the host's name": {"UTSMode": "host"},
    "the host's users": {"UsernsMode": "host"},
    "the host's cgroups": {"CgroupnsMode": "host"},
    "another cgroup": {"CgroupParent": "/"},
    "all capabilities": {"CapAdd": ["ALL"]},
    "a capability": {"CapAdd": ["SYS_ADMIN"]},
    "a capability with its prefix": {"CapAdd": ["CAP_SYS_ADMIN"]},
    "no capability dropped": {"CapDrop": []},
    "capabilities unsaid": {"CapDrop": None},
    "one capability dropped": {"CapDrop": ["CHOWN"]},
    "no seccomp": {"SecurityOpt": ["no-new-privileges:true", "seccomp=unconfined"]},
    "another seccomp": {"SecurityOpt": ["no-new-privileges:true", 'seccomp={"defaultAction":"SCMP_ACT_ALLOW"}']},
    "a broken seccomp": {"SecurityOpt": ["no-new-privileges:true", "seccomp={"]},
    "no AppArmor": {"SecurityOpt": ["no-new-privileges:true", "apparmor=unconfined"]},
    "no label": {"SecurityOpt": ["no-new-privileges:true", "label=disable"]},
    "system paths": {"SecurityOpt": ["no-new-privileges:true", "systempaths=unconfined"]},
    "new privileges": {"SecurityOpt": ["no-new-privileges:false"]},
    "no security option": {"SecurityOpt": []},
    "nothing masked": {"MaskedPaths": ["/nothing"]},
    "writable system paths": {"ReadonlyPaths": ["/nothing"]},
    "a writable root": {"ReadonlyRootfs": False},
    "sysctls of the host": {"Sysctls": {"kernel.core_pattern": "|/x"}},
    "sysctls of the network": {"Sysctls": {"net.ipv4.ip_forward": "1"}},
    "a spared process": {"OomScoreAdj": -1000},
    "no killing": {"OomKillDisable": True},
    "another runtime": {"Runtime": "other"},
    "others' volumes": {"VolumesFrom": ["own-1"]},
    "a volume driver": {"VolumeDriver": "other"},
    "a port": {"PortBindings": {"7000/tcp": [{"HostPort": "80"}]}},
    "all ports": {"PublishAllPorts": True},
    "a hosts entry": {"ExtraHosts": ["mongo:127.0.0.1"]},
    "a name server": {"Dns": ["10.0.0.1"]},
    "a link": {"Links": ["own-1:x"]},
    "a group": {"GroupAdd": ["0"]},
    "a restart": {"RestartPolicy": {"Name": "always"}},
    "removed by itself": {"AutoRemove": True},
    "a file of its id": {"ContainerIDFile": "/etc/cron.d/x"},
    "a log elsewhere": {"LogConfig": {"Type": "syslog", "Config": {"syslog-address": "tcp://10.0.0.1"}}},
    "a log without end": {"LogConfig": {"Type": "json-file", "Config": {"max-size": "-1"}}},
    "a large log": {"LogConfig": {"Type": "json-file", "Config": {"max-size": "100g"}}},
    "memory without end": {"Memory": 0},
    "memory unsaid": {"Memory": None},
    "memory below nothing": {"Memory": -1},
    "more memory than allowed": {"Memory": 4096 << 20},
    "swap without end": {"MemorySwap": -1},
    "swap beside the memory": {"MemorySwap": 100 << 20},
    "processes without end": {"PidsLimit": -1},
    "processes unsaid": {"PidsLimit": None},
    "a yes that is a number": {"Memory": True},
    "a lot of shared memory": {"ShmSize": 1 << 40},
    "tmpfs over the programs": {"Tmpfs": {"/usr/bin": "rw,nosuid,nodev,size=1"}},
    "tmpfs over proc": {"Tmpfs": {"/proc": "rw,nosuid,nodev,size=1"}},
    "tmpfs elsewhere": {"Tmpfs": {"/tmp/../etc": "rw,nosuid,nodev,size=1"}},
    "tmpfs with set-uid": {"Tmpfs": {"/tmp": "rw,suid,nodev,size=1"}},
    "tmpfs without a size": {"Tmpfs": {"/tmp": "rw,nosuid,nodev"}},
    "tmpfs that is shared": {"Tmpfs": {"/tmp": "rw,nosuid,nodev,size=1,rshared"}},
    "a limit of the host": {"Ulimits": [{"Name": "rtprio", "Soft": 99, "Hard": 99}]},
    "an unknown field": {"Annotations": {"run.oci.x": "1"}},
}
TOP: dict[str, Any] = {
    "another image": {"Image": "debian:bookworm"},
    "the image by a prefix of its id": {"Image": "sha256:0"},
    "another user": {"User": "12345:0"},
    "no user": {"User": ""},
    "another stack's label": {"Labels": {"agent-sandbox.stack": "other"}},
    "no label": {"Labels": {}},
    "labels unsaid": {"Labels": None},
    "a gateway's label": {"Labels": {"agent-sandbox.stack": "own", "agent-sandbox.door-client": "own"}},
    "compose's label": {"Labels": {"agent-sandbox.stack": "own", "com.docker.compose.project": "own"}},
    "a proxy's label": {"Labels": {"agent-sandbox.stack": "own", "traefik.enable": "true"}},
    "anonymous volumes": {"Volumes": {"/data": {}, "/x": {"a": 1}}},
    "more networks": {"NetworkingConfig": {"EndpointsConfig": {"host": {"Aliases": ["x"]}}}},
    "ports": {"ExposedPorts": {"80/tcp": {"x": 1}}},
    "a hardware address": {"MacAddress": "02:00:00:00:00:01"},
    "a command of the engine": {"Healthcheck": {"Test": ["CMD", "x"]}},
    "an old host config": {"hostConfig": {"Privileged": True}},
    "a host config that is none": {"HostConfig": []},
    "no host config": {"HostConfig": None},
    "a shell": {"Shell": ["/bin/sh"]},
    "text for a list": {"Cmd": "rm -rf /"},
}


@pytest.mark.parametrize("kind", BODIES)
def test_what_leads_out_of_a_container_is_refused(policy: Policy, kind: str) -> None:
    for name, change in HOST_CONFIG.items():
        body = copy.deepcopy(BODIES[kind]())
        body["HostConfig"] |= change
        assert is_refused(policy, body), name


@pytest.mark.parametrize("kind", BODIES)
def test_what_makes_another_container_of_it_is_refused(policy: Policy, kind: str) -> None:
    for name, change in TOP.items():
        assert is_refused(policy, BODIES[kind]() | change), name


def is_refused(policy: Policy, body: Json) -> bool:
    try:
        judge_container(policy, body)
    except Refused:
        return True
    return False


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("sandbox", {"CapAdd": ["NET_ADMIN"]}),
        ("sandbox", {"NanoCpus": 0}),
        ("sandbox", {"NanoCpus": None}),
        ("sandbox", {"NanoCpus": 64_000_000_000}),
        ("sandbox", {"CpuShares": 0}),
        ("sandbox", {"CpuShares": 100_000}),
        ("sandbox", {"NetworkMode": "container:own-1"}),
        ("guard", {"CapAdd": ["NET_ADMIN", "DAC_OVERRIDE"]}),
        ("guard", {"Mounts": [{"Type": "volume", "Source": "own-ws-1", "Target": "/workspace"}]}),
        ("guard", {"NetworkMode": "own-net-1"}),
        ("guard", {"NetworkMode": "none"}),
        ("guard", {"NetworkMode": "container:"}),
        ("guard", {"NetworkMode": "container:/own"}),
        ("archive", {"CapAdd": ["NET_ADMIN"]}),
        ("archive", {"CapAdd": ["MKNOD"]}),
        ("archive", {"NetworkMode": "own-net-1"}),
        ("archive", {"NetworkMode": "container:own-1"}),
    ],
)
def test_what_one_may_have_another_may_not(policy: Policy, kind: str, change: Json) -> None:
    body = BODIES[kind]()
    body["HostConfig"] |= change
    with pytest.raises(Refused):
        judge_container(policy, body)


def test_a_sandbox_may_not_run_as_root(policy: Policy) -> None:
    with pytest.raises(Refused, match="root"):
        judge_container(policy, sandbox_body() | {"User": "0:0"})


def test_what_says_nothing_is_left_out(policy: Policy) -> None:
    body = sandbox_body()
    body["HostConfig"] |= {"Binds": None, "Devices": [], "PidMode": "", "Dns": [], "PublishAllPorts": False}
    body |= {"Volumes": {}, "NetworkingConfig": {"EndpointsConfig": {}}}
    forwarded = judge_container(policy, body).body
    assert {"Binds", "Devices", "PidMode", "Dns", "PublishAllPorts"}.isdisjoint(forwarded["HostConfig"])
    assert {"Volumes", "NetworkingConfig"}.isdisjoint(forwarded)


def test_what_others_may_need_goes_through(policy: Policy) -> None:
    body = sandbox_body()
    body["HostConfig"]["Tmpfs"]["/run/more"] = "rw,nosuid,nodev,noexec,mode=0700,uid=1000,size=1048576,nr_inodes=1000"
    body["HostConfig"] |= {"Sysctls": {"net.ipv4.conf.all.arp_ignore": "1"}, "Init": True}
    body["HostConfig"]["Ulimits"] = [{"Name": "nofile", "Soft": 1024, "Hard": 4096}]
    assert judge_container(policy, body).body["HostConfig"]["Sysctls"]
