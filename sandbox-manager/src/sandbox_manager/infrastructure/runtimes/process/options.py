"""Options of the process runtime."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """`folder` holds workspaces and live sandboxes; `blocked_subnets` and the addresses of `host_fib_trie` can't be
    reached from inside.

    `kernel_python` runs code of the agent, in an environment of its own; without it there are no code tools' kernels.
    `command` imports nothing from its working folder, and nothing of a user's: an agent writes both.
    """

    stack: str
    folder: Path
    python: Path
    python_path: tuple[Path, ...]
    unsafe: bool
    blocked_subnets: tuple[str, ...]
    seccomp_profile: Path
    host_fib_trie: Path
    inside: SandboxProfile
    kernel_python: Path | None = None
    command: tuple[str, ...] = ("-P", "-s", "-m", "tool_api")
