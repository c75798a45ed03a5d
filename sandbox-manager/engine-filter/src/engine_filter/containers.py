"""Bodies that make containers.

Three shapes are known, by their network: a sandbox on a network of its own, a helper that joins a sandbox's network and
may set it up, and a helper without any network that may read and write all files of its volumes. Anything that goes
further, or is not known here, is refused; the judged body is written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine_filter.policy import ENDPOINT_LABEL, LABEL_PREFIX, STACK_LABEL, Policy
from engine_filter.refusals import Refused
from engine_filter.shapes import Rule, boolean, integer, need, one_of, record, shaped, table, text, texts
from engine_filter.strict_json import Json

REF = r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,200}"
_MIB = 1024 * 1024
_NO_NEW_PRIVILEGES = ("no-new-privileges:true", "no-new-privileges")
_SECCOMP = "seccomp="
_JOINS = "container:"
_LOG = {"Type": "json-file", "Config": {"max-size": "10m", "max-file": "2"}}

_WORD = text(r".*", 65_536)
_PATH = text(r"/|(/[a-zA-Z0-9_][a-zA-Z0-9_.-]*){1,8}")
_TMPFS_PATH = text(r"(/tmp|/var/tmp|/run|/home|/skills)(/[a-zA-Z0-9_][a-zA-Z0-9_.-]*){0,4}")
_TMPFS_WORD = re.compile(
    r"rw|noexec|exec|nosuid|nodev|noatime|(mode|uid|gid)=[0-9]{1,5}|(size|nr_inodes)=[0-9]{1,12}", re.ASCII
)
_SYSCTL = text(r"net\.ipv[46]\.conf\.(all|default)\.[a-z_]+")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A body to forward, once all it names is known to be the stack's."""

    body: Json
    network: str | None
    joins: str | None
    volumes: tuple[str, ...]


def judge_container(policy: Policy, body: Json) -> Wanted:
    """Raises `Refused`."""
    kept = record(body, _top(policy), "")
    need(kept, ("Image", "User", "Labels", "HostConfig"), "container")
    host = kept["HostConfig"]
    need(host, ("NetworkMode", "CapDrop", "SecurityOpt", "ReadonlyRootfs", "Memory", "PidsLimit"), "HostConfig")
    if host.get("MemorySwap", host["Memory"]) != host["Memory"]:
        raise Refused("HostConfig.MemorySwap must equal Memory")
    mode = str(host["NetworkMode"])
    network, joins = None, None
    if mode == "none":
        _refuse_more_rights(kept, capabilities={"DAC_OVERRIDE", "CHOWN", "FOWNER"}, forbidden=("Sysctls",))
    elif mode.startswith(_JOINS):
        joins = mode.removeprefix(_JOINS)
        _refuse_more_rights(kept, capabilities={"NET_ADMIN"}, forbidden=("Mounts", "Tmpfs", "Sysctls"))
    else:
        network = mode
        _refuse_more_rights(kept, capabilities=set(), forbidden=())
        need(host, ("NanoCpus",), "HostConfig")
        if kept["User"] == "0:0":
            raise Refused("User: a sandbox may not run as root")
    # Set explicitly, rather than left to the engine's defaults.
    host |= {"Privileged": False, "IpcMode": "private", "RestartPolicy": {"Name": "no"}}
    host.setdefault("LogConfig", _LOG)
    return Wanted(kept, network, joins, tuple(mount["Source"] for mount in host.get("Mounts", ())))


def _refuse_more_rights(kept: Json, *, capabilities: set[str], forbidden: tuple[str, ...]) -> None:
    host = kept["HostConfig"]
    more = set(host.get("CapAdd", ())) - capabilities
    if more:
        raise Refused(f"HostConfig.CapAdd: {', '.join(sorted(more))} is not allowed with this network")
    for name in forbidden:
        if host.get(name):
            raise Refused(f"HostConfig.{name} is not allowed with this network")


def own_labels(policy: Policy) -> Rule:
    """Rule for labels of this stack alone, so that nothing else on the machine takes ours for its own, nor for a
    gateway."""
    pairs = table(text(re.escape(LABEL_PREFIX) + r"[a-z-]{1,40}"), text(r"[^\0\n]*"))

    def rule(value: Any, where: str) -> Json:
        labels = pairs(value, where)
        if not policy.is_own(labels):
            raise Refused(f"{where}: {STACK_LABEL} must be {policy.stack}")
        if ENDPOINT_LABEL in labels:
            raise Refused(f"{where} may not be those of a gateway")
        return labels

    return rule


def _top(policy: Policy) -> dict[str, Rule]:
    return {
        "Image": one_of(*policy.images),
        "Hostname": text(r"[a-z0-9-]*", 63),
        "User": one_of("1000:1000", "0:0"),
        "WorkingDir": _PATH,
        "Env": texts(text(r"[A-Za-z_][A-Za-z0-9_]*=.*", 65_536)),
        "Labels": own_labels(policy),
        "AttachStdin": boolean,
        "AttachStdout": boolean,
        "AttachStderr": boolean,
        "OpenStdin": boolean,
        "StdinOnce": boolean,
        "Entrypoint": texts(_WORD),
        "Cmd": texts(_WORD),
        "Healthcheck": shaped({"Test": texts(one_of("NONE"), 1)}),
        "StopTimeout": integer(0, 60),
        "HostConfig": shaped(_host(policy)),
    }


def _host(policy: Policy) -> dict[str, Rule]:
    return {
        "CapDrop": _drops_all,
        "CapAdd": texts(text(r"[A-Z_]+"), 8),
        "SecurityOpt": _security(policy),
        "ReadonlyRootfs": one_of(True),
        "Tmpfs": table(_TMPFS_PATH, _tmpfs, 8),
        "ShmSize": integer(0, 1024 * _MIB),
        "Memory": integer(6 * _MIB, policy.memory_bytes),
        "MemorySwap": integer(6 * _MIB, policy.memory_bytes),
        "NanoCpus": integer(1, policy.nano_cpus),
        # At most a container's default: the services come first.
        "CpuShares": integer(2, 1024),
        "OomScoreAdj": integer(0, 1000),
        "PidsLimit": integer(1, policy.pids),
        "LogConfig": shaped({"Type": one_of("json-file"), "Config": shaped(_LOG_BOUNDS)}),
        "NetworkMode": text(rf"none|{_JOINS}{REF}|{re.escape(policy.stack)}-net-{REF}"),
        "IpcMode": one_of("private", ""),
        "RestartPolicy": shaped({"Name": one_of("no", "")}),
        "Mounts": texts(_mount(policy), 2),
        "Init": boolean,
        "Ulimits": texts(shaped(_ULIMIT), 8),
        "Sysctls": table(_SYSCTL, text(r"[0-9]{1,5}")),
    }


_LOG_BOUNDS: dict[str, Rule] = {"max-size": text(r"[1-9][0-9]?m"), "max-file": text(r"[1-5]")}
_ULIMIT: dict[str, Rule] = {
    "Name": one_of("nofile", "nproc", "core", "fsize", "memlock", "msgqueue"),
    "Soft": integer(0, 2**40),
    "Hard": integer(0, 2**40),
}


def _mount(policy: Policy) -> Rule:
    # No target below another volume: a mount's place is never looked up in a sandbox's files.
    rules: dict[str, Rule] = {
        "Type": one_of("volume"),
        "Source": text(own_volume(policy)),
        "Target": one_of("/workspace", "/archives"),
        "ReadOnly": boolean,
    }

    def rule(value: Any, where: str) -> Json:
        kept = record(value, rules, where)
        need(kept, ("Type", "Source", "Target"), where)
        return kept

    return rule


def own_volume(policy: Policy) -> str:
    """The pattern of the stack's volume names."""
    return rf"{re.escape(policy.stack)}-(ws|snap)-{REF}"


def _drops_all(value: Any, where: str) -> list[str]:
    if "ALL" not in texts(text(r"[A-Z_]+"), 64)(value, where):
        raise Refused(f"{where} must have ALL")
    return ["ALL"]


def _tmpfs(value: Any, where: str) -> str:
    words = str(text(r"[a-z0-9_=,]*")(value, where)).split(",")
    for word in words:
        if not _TMPFS_WORD.fullmatch(word):
            raise Refused(f"{where}: {word} is not allowed")
    sizes = [int(word.removeprefix("size=")) for word in words if word.startswith("size=")]
    if not {"nosuid", "nodev"} <= set(words) or len(sizes) != 1 or not 0 < sizes[0] <= 4096 * _MIB:
        raise Refused(f"{where} must have nosuid, nodev and one size")
    return ",".join(words)


def _security(policy: Policy) -> Callable[[Any, str], list[str]]:
    known = _SECCOMP + json.dumps(policy.seccomp)

    def rule(value: Any, where: str) -> list[str]:
        options: list[str] = texts(_WORD, 2)(value, where)
        if not any(one in _NO_NEW_PRIVILEGES for one in options):
            raise Refused(f"{where} must have no-new-privileges")
        return ["no-new-privileges:true", *(known for one in options if _names_profile(one, where))]

    def _names_profile(option: str, where: str) -> bool:
        if option in _NO_NEW_PRIVILEGES:
            return False
        try:
            if option.startswith(_SECCOMP) and json.loads(option.removeprefix(_SECCOMP)) == policy.seccomp:
                return True
        except (ValueError, RecursionError) as error:
            raise Refused(f"{where}: the seccomp profile is not the known one") from error
        raise Refused(f"{where}: only no-new-privileges and the known seccomp profile are allowed")

    return rule
