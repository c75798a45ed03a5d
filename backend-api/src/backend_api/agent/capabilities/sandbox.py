"""The prompt's section on the agent's sandbox."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.agent.capability import Capability, Setup

_TEXT = """\
Your computer
- The workspace is /workspace and is the current folder of your tools. Put everything the person should get there; \
name files so that they can be guessed.
- You are an ordinary user without root. The network may be missing; if a download fails, say so and go on without it.
- Installed programs, open shells and contexts of code live as long as the sandbox; the workspace stays when the \
sandbox is rebuilt."""

TARGET = "target"
"""The name of the capability that loads another computer, if there is one."""


@dataclass(frozen=True, slots=True)
class ExecutionTarget:
    """The prompt's section on a computer that is no sandbox of this deployment."""

    text: str


def _sections(setup: Setup) -> list[str]:
    if not setup.has_sandbox:
        return []
    other = setup.loaded.get(TARGET)
    return [other.text if isinstance(other, ExecutionTarget) else _TEXT]


SANDBOX = Capability(name="sandbox", sections=_sections)
