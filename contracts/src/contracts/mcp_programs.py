"""WS /mcp-programs of the tool API: an MCP server that runs as a program in the sandbox.

The first message is `McpProgramStart`. From then on each message is one line, without its end, to the program's
standard input or from its standard output
(https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#stdio). The program ends with the socket, and
the socket with the program; the reason is in its close, and at greater length in the last message (`ENDING`).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

PATH = "/mcp-programs"
MAX_LINE_BYTES = 4 * 1024 * 1024
ENDED = 1000
NOT_STARTED = 4400
UNAUTHENTICATED = 4401
TOO_MUCH = 4413

ENDING = "\x00ending: "
"""The beginning of the last message, which is not the program's: the reason of its end, as a close has only 123
bytes."""

_Text = Annotated[str, StringConstraints(max_length=16_384, pattern=r"^[^\x00]*$")]


class McpProgramStart(BaseModel):
    """The program to start in the workspace, with these variables beside those that programs there have."""

    model_config = ConfigDict(extra="forbid")

    command: Annotated[str, StringConstraints(min_length=1, max_length=4_096, pattern=r"^[^\x00]*$")]
    args: list[_Text] = Field(default_factory=list, max_length=100)
    env: dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")], _Text] = Field(
        default_factory=dict, max_length=100
    )
