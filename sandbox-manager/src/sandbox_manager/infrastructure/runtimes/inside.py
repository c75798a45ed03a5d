"""What every sandbox is given: its limits and the environment of its door."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from sandbox_manager.domain.ports import SandboxSpec

READY_LINE = "tool-api: ready "


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """Limits and settings that hold in either runtime."""

    desktop: bool
    bash_timeout: int
    allowed_commands: str
    max_upload_bytes: int
    memory_bytes: int
    cpus: float
    pids: int

    def environment(self, spec: SandboxSpec, door: str) -> dict[str, str]:
        """Environment of `python -m tool_api`; nothing in it is secret."""
        return {
            "SANDBOX_ID": spec.identity.sandbox_id,
            "SANDBOX_GENERATION": str(spec.identity.generation),
            "SANDBOX_PUBLIC_KEY": base64.b64encode(spec.public_key.encode()).decode(),
            "SANDBOX_DOOR": door,
            "SANDBOX_DESKTOP": "true" if self.desktop else "false",
            "WORKSPACE": "/workspace",
            "BASH_TIMEOUT": str(self.bash_timeout),
            "ALLOWED_COMMANDS": self.allowed_commands,
            "MAX_UPLOAD_BYTES": str(self.max_upload_bytes),
        }


def desktop_of(ready_line: str) -> bool:
    """Whether the line that says ready also says there is a desktop."""
    return "desktop=yes" in ready_line
