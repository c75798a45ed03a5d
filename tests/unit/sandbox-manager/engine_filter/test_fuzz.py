"""Whatever body is invented, what is forwarded leads nowhere."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine_filter.containers import judge_container
from engine_filter.policy import Policy
from engine_filter.refusals import Refused
from engine_filter.strict_json import loads

from .conftest import archive_body, guard_body, sandbox_body

_DANGEROUS = [
    "Privileged",
    "privileged",
    "PRIVILEGED",
    "Binds",
    "binds",
    "Mounts",
    "mounts",
    "Devices",
    "DeviceRequests",
    "DeviceCgroupRules",
    "PidMode",
    "IpcMode",
    "UTSMode",
    "UsernsMode",
    "CgroupnsMode",
    "CgroupParent",
    "CapAdd",
    "CapDrop",
    "SecurityOpt",
    "MaskedPaths",
    "ReadonlyPaths",
    "ReadonlyRootfs",
    "Sysctls",
    "VolumesFrom",
    "VolumeDriver",
    "PortBindings",
    "PublishAllPorts",
    "Runtime",
    "NetworkMode",
    "networkmode",
    "RestartPolicy",
    "Tmpfs",
    "LogConfig",
    "Memory",
    "PidsLimit",
    "Labels",
    "Image",
    "User",
    "HostConfig",
    "hostConfig",
    "NetworkingConfig",
    "Volumes",
    "Annotations",
]
_WORDS = st.sampled_from(
    [
        "host",
        "/:/host",
        "container:other-1",
        "container:own-1",
        "unconfined",
        "SYS_ADMIN",
        "NET_ADMIN",
        "ALL",
        "seccomp=unconfined",
        "bridge",
        "none",
        "own-net-1",
        "other-net-1",
        "own-ws-1",
        "other-ws-1",
        "/",
        "/etc",
        "/workspace",
        "volume",
        "bind",
        "0:0",
        "own",
        "other",
        "no",
        "always",
    ]
) | st.text(max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**40) | _WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["Type", "Source", "Target", "Name", "Config"]) | _WORDS, inner, max_size=3)
    ),
    max_leaves=8,
)
_CHANGES = st.dictionaries(st.sampled_from(_DANGEROUS), _VALUES, max_size=4)
_BASES = [sandbox_body(), guard_body(), archive_body()]
_KNOWN = {
    "CapDrop",
    "CapAdd",
    "SecurityOpt",
    "ReadonlyRootfs",
    "Tmpfs",
    "ShmSize",
    "Memory",
    "MemorySwap",
    "NanoCpus",
    "CpuShares",
    "PidsLimit",
    "LogConfig",
    "NetworkMode",
    "IpcMode",
    "RestartPolicy",
    "Mounts",
    "Init",
    "Ulimits",
    "Sysctls",
    "Privileged",
}


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(_BASES), _CHANGES, _CHANGES)
def test_no_body_that_is_forwarded_leads_out(policy: Policy, base: Any, top: Any, host: Any) -> None:
    body = copy.deepcopy(base) | top
    if isinstance(body.get("HostConfig"), dict):
        body["HostConfig"] = body["HostConfig"] | host
    try:
        wanted = judge_container(policy, loads(json.dumps(body).encode()))
    except Refused:
        return
    made, config = wanted.body, wanted.body["HostConfig"]
    assert set(config) <= _KNOWN
    assert (config["Privileged"], config["IpcMode"], config["CapDrop"]) == (False, "private", ["ALL"])
    assert set(config.get("CapAdd", ())) <= {"NET_ADMIN"} | {"DAC_OVERRIDE", "CHOWN", "FOWNER"}
    assert config["SecurityOpt"][0] == "no-new-privileges:true"
    assert all(json.loads(one.removeprefix("seccomp=")) == policy.seccomp for one in config["SecurityOpt"][1:])
    assert config["ReadonlyRootfs"] is True
    assert 0 < config["Memory"] <= policy.memory_bytes
    assert 0 < config["PidsLimit"] <= policy.pids
    assert all(one["Type"] == "volume" and one["Source"].startswith("own-") for one in config.get("Mounts", ()))
    assert made["Image"] in policy.images
    assert made["Labels"]["agent-sandbox.stack"] == "own"
    mode = config["NetworkMode"]
    if "NET_ADMIN" in config.get("CapAdd", ()):
        assert mode.startswith("container:")
        assert wanted.joins
    assert mode == "none" or wanted.joins or wanted.network == mode
