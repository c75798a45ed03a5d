"""The tools for ports: opening an app that the agent started to the person's browser, and closing it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from backend_api.agent.capability import Setup
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, local_tool
from backend_api.kit.errors import ConflictError, InvalidError, NotFoundError
from backend_api.kit.ids import SessionId, UserId
from backend_api.previews.application.open_port import ClosePort, OpenPort
from backend_api.previews.domain.entity import FIRST_PORT, LAST_PORT, MAX_LABEL_CHARACTERS

_EXPOSE = f"""\
Open a port of your computer to the person's browser, so that they can use a web app that you started there. Start it \
first, as a background command, on a port from {FIRST_PORT} to {LAST_PORT}, and see that it answers. It may listen on \
localhost alone. There is no address to tell: the person opens it in the page."""
_CLOSE = "Close a port that was opened to the person's browser. What runs at it goes on."
_OPENED = """\
Port {port} is open{before}. The person finds it in the page, under "Ports" of this conversation's computer, and opens \
it there: tell them so, and no address. It stays open when the computer is rebuilt; start the app again then."""


class ExposePortArguments(Arguments):
    port: int = Field(description="The port that the app listens on.")
    label: Line = Field(default="", max_length=MAX_LABEL_CHARACTERS, description="What the app is, in a few words.")


class ClosePortArguments(Arguments):
    port: int = Field(description="The port, as it was opened.")


def port_tools(open_port: OpenPort | None = None, close_port: ClosePort | None = None) -> list[Tool]:
    """The tools for ports. Without use cases they only describe themselves and can't be called."""

    async def expose(call: ToolCall, arguments: ExposePortArguments) -> Done:
        assert open_port is not None
        try:
            opened, is_new = await open_port(
                SessionId(call.session_id),
                UserId(call.user_id),
                arguments.port,
                label=arguments.label,
                opened_by="agent",
            )
        except (ConflictError, InvalidError, NotFoundError) as refused:
            return Done(success=False, output=refused.detail)
        return Done(
            success=True, output=_OPENED.format(port=opened.port, before="" if is_new else ", as it was before")
        )

    async def close(call: ToolCall, arguments: ClosePortArguments) -> Done:
        assert close_port is not None
        try:
            await close_port.by_number(SessionId(call.session_id), UserId(call.user_id), arguments.port)
        except NotFoundError as refused:
            return Done(success=False, output=refused.detail)
        return Done(success=True, output=f"Port {arguments.port} is closed.")

    return [
        local_tool(
            name="expose_port",
            description=_EXPOSE,
            arguments=ExposePortArguments,
            phrase="Opening port {port}",
            run_call=expose,
            needs_sandbox=True,
            # It changes no file, but lets a browser in.
            effect="writes",
        ),
        local_tool(
            name="close_port",
            description=_CLOSE,
            arguments=ClosePortArguments,
            phrase="Closing port {port}",
            run_call=close,
            needs_sandbox=True,
            effect="writes",
        ),
    ]


@dataclass(frozen=True, slots=True)
class PortTools:
    """`ToolSource` for the agent that the person talks to, where the deployment has a domain for ports."""

    open_port: OpenPort
    close_port: ClosePort

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The tools for ports; an empty list for sub-agents."""
        is_offered = setup.kind == "main" and bool(self.open_port.policy.domain)
        return port_tools(self.open_port, self.close_port) if is_offered else []
