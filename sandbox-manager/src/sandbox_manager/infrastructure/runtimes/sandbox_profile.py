"""The profile of every sandbox: its limits and the environment of its endpoint."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from contracts.sandboxes import KeptAlive
from sandbox_manager.domain.configuration import Configuration
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import Report, SandboxSpec
from service_kit.bounded_json import MalformedJsonError, read_json

READY_LINE = "tool-api: ready "
KEPT_LINE = "tool-api: kept "
_MIB = 1024 * 1024
LONGEST_ANSWER = 64 * 1024
"""Size limit of a sandbox's answer, a line or a body. Honest ones have a hundred bytes."""
_KEPT_ALIVE = TypeAdapter(KeptAlive)
# Earlier managers froze their pools; sandboxes that they left are not to be claimed.
_WAITS_AS = "at rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxProfile:
    """Limits and settings that hold in either runtime."""

    desktop: bool
    bash_timeout: int
    allowed_commands: str
    max_upload_bytes: int
    memory_bytes: int
    cpus: float
    pids: int
    orphan_s: int = 0
    disk_bytes: int = 0
    max_files: int = 0

    def of(self, configuration: Configuration) -> SandboxProfile:
        """The profile with the limits of the chosen size, if any."""
        size = configuration.size
        if size is None:
            return self
        return replace(self, memory_bytes=size.memory_mb * _MIB, cpus=size.cpus, disk_bytes=size.disk_mb * _MIB)

    def environment(self, spec: SandboxSpec, endpoint: str) -> dict[str, str]:
        """Environment of `python -m tool_api`; nothing in it is secret."""
        return {
            "SANDBOX_ID": spec.identity.sandbox_id,
            "SANDBOX_GENERATION": str(spec.identity.generation),
            "SANDBOX_PUBLIC_KEY": base64.b64encode(spec.public_key.encode()).decode(),
            "SANDBOX_DOOR": endpoint,
            "SANDBOX_DESKTOP": "true" if self.desktop else "false",
            "WORKSPACE": "/workspace",
            "BASH_TIMEOUT": str(self.bash_timeout),
            "ALLOWED_COMMANDS": self.allowed_commands,
            "MAX_UPLOAD_BYTES": str(self.max_upload_bytes),
            "SANDBOX_ORPHAN_S": str(self.orphan_s),
            "SANDBOX_DISK_BYTES": str(self.disk_bytes),
            "SANDBOX_MAX_FILES": str(self.max_files),
        }


def fingerprint(*parts: object) -> str:
    """A digest that is the same for the same parts only."""
    return hashlib.sha256(repr((_WAITS_AS, *parts)).encode()).hexdigest()[:16]


def desktop_of(ready_line: str) -> bool:
    """Whether the ready line also reports a desktop."""
    return "desktop=yes" in ready_line


def keep_alive_line(token: str) -> str:
    """The keep-alive line for a sandbox's standard input."""
    return json.dumps({"keep": token})


def report_of(line: str) -> Report:
    """The report in a sandbox's answer. Raises `EngineUnavailableError`."""
    try:
        if len(line) > LONGEST_ANSWER:
            raise MalformedJsonError("It is too long.")
        report = read_json(_KEPT_ALIVE, line.removeprefix(KEPT_LINE), most_values=100)
        return Report(
            unused_s=report.unused_s, disk_bytes=report.disk_bytes, disk_files=report.disk_files, resting=report.resting
        )
    except (MalformedJsonError, ValueError) as error:
        raise EngineUnavailableError("The sandbox's response does not match the request.") from error
