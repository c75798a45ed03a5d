"""What sandbox it has."""

from __future__ import annotations

from backend_api.agent.capability import Capability

_TEXT = """\
Your computer
- The workspace is /workspace and is the current folder of your tools. Put everything the person should get there; \
name files so that they can be guessed.
- You are an ordinary user without root. The network may be missing; if a download fails, say so and go on without it.
- Installed programs, open shells and contexts of code live as long as the sandbox; the workspace stays when the \
sandbox is rebuilt."""

SANDBOX = Capability(name="sandbox", sections=lambda setup: [_TEXT] if setup.has_sandbox else [])
