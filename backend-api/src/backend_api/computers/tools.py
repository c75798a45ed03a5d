"""`generate_download_url`: a signed, expiring link to one file of the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pydantic import Field

from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, local_tool
from backend_api.kit.errors import DomainError, UnavailableError
from backend_api.sandboxes.domain.errors import SandboxLostError


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLink:
    url: str
    expires_at: datetime


class LinkSigner(Protocol):
    """Makes download links for the user of the agent that calls."""

    async def __call__(self, session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
        """The link. Raises `FileMissingError`, `PathForbiddenError`, `SandboxUnavailableError`."""
        ...


class DownloadUrlArguments(Arguments):
    path: str = Field(min_length=1, max_length=4_096, description="Path of the file, relative to the workspace.")
    expires_s: int = Field(default=3_600, ge=60, le=86_400, description="Seconds until the link expires.")


def generate_download_url(sign: LinkSigner) -> Tool:
    async def run_call(call: ToolCall, arguments: DownloadUrlArguments) -> Done:
        try:
            link = await sign(call.session_id, call.user_id, arguments.path, expires_s=arguments.expires_s)
        except SandboxLostError as error:
            return Done(success=False, output=f"No link was made: {error.detail}")
        except UnavailableError:
            raise
        except DomainError as error:
            return Done(success=False, output=error.detail)
        return Done(
            success=True,
            output=f"{link.url}\nValid until {link.expires_at:%Y-%m-%dT%H:%M:%SZ}, for this file only.",
            display={"type": "document", "path": arguments.path, "title": arguments.path, "url": link.url},
        )

    return local_tool(
        name="generate_download_url",
        description="Make a link under which one file of the workspace can be downloaded for a while without log-in.",
        arguments=DownloadUrlArguments,
        phrase="Making a link for {path}",
        needs_sandbox=True,
        run_call=run_call,
        # It changes no file, but anyone with the link can read one without a log-in.
        effect="writes",
    )
