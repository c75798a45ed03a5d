"""Export of a conversation to a file, for its owner."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.http.accept_language import wants_chinese
from backend_api.kit.http.closing import ClosingResponse
from backend_api.kit.http.ports import port
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.http.user_content import content_headers
from backend_api.sharing.application.export_session import ExportFormat, ExportLanguage, ExportSession
from backend_api.sharing.http.workspace import OwnerWorkspace

router = APIRouter(prefix="/api", tags=["sharing"])

_LANGUAGE = (
    "Of the words that are not the conversation's, such as headings. Without it that of the account's settings, else "
    "what `Accept-Language` prefers."
)
_BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get(
    "/sessions/{session_id}/export",
    response_class=Response,
    responses=_BYTES | {413: {}, 422: {}, 503: {}},
    dependencies=[ONE_PLACE],
)
async def export_session(
    session_id: str,
    caller: CurrentCaller,
    export_session: Annotated[ExportSession, port("export_session")],
    workspace: OwnerWorkspace,
    format: Annotated[ExportFormat, Query()] = "md",  # noqa: A002 -- the name on the wire
    tools: bool = False,
    thinking: bool = False,
    language: Annotated[ExportLanguage | None, Query(description=_LANGUAGE)] = None,
    accept_language: Annotated[str, Header()] = "",
) -> Response:
    """Download a conversation as Markdown, as JSON, as PDF, or as a zip archive of the first two and the files of its
    workspace; on request with inputs and outputs of tools, and with thinking. Known secrets are masked."""
    otherwise: ExportLanguage = "zh" if wants_chinese(accept_language) else "en"
    chosen = (("files", format == "zip"), ("tools", tools), ("thinking", thinking))
    include = frozenset(name for name, is_chosen in chosen if is_chosen)
    export = await export_session(
        SessionId(session_id), caller.user.id, format, include, workspace, language=language, otherwise=otherwise
    )
    headers = content_headers(export.name, b"") | {"Content-Type": export.media_type}
    return ClosingResponse(export.pieces, headers=headers)
