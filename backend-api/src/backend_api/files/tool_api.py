"""`FileEditor` over the endpoints of sandboxes."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter

from backend_api.files.domain import FileChangedError, SavedText, TextFile
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxLostError
from backend_api.sandboxes.tool_api.endpoint_faults import endpoint_faults
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.problems import error_of
from contracts.files import MAX_TEXT_BYTES, ChangedPath
from contracts.files import SavedText as WireSaved
from contracts.files import TextFile as WireText
from service_kit.bounded_http import Answer, Bounds
from service_kit.bounded_json import MalformedJsonError, read_json

_SCOPES = (Scope.FILES,)
# Each character of a text may be an escape of six bytes.
_BOUNDS = Bounds(body_bytes=6 * MAX_TEXT_BYTES + 64 * 1024, head_s=30.0, whole_s=40.0)
_MOST_VALUES = 1_000
_MALFORMED = "The computer's response was malformed."
_CHANGED = "The file was changed or deleted since it was opened. Nothing was saved."
_TEXT, _SAVED, _PATH = TypeAdapter(WireText), TypeAdapter(WireSaved), TypeAdapter(ChangedPath)
_Wire = TypeVar("_Wire", bound=BaseModel)


class ToolApiFileEditor:
    """Edits files of sandboxes."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints

    async def read(self, sandbox: Sandbox, path: str) -> TextFile:
        found = await self._ask(sandbox, "GET", "/files/text", _TEXT, params={"path": path})
        return TextFile(**found.model_dump())

    async def save(self, sandbox: Sandbox, path: str, content: str, if_match: str | None) -> SavedText:
        body = {"path": path, "content": content, "if_match": if_match}
        return SavedText(**(await self._ask(sandbox, "PUT", "/files/text", _SAVED, json=body)).model_dump())

    async def move(self, sandbox: Sandbox, source: str, destination: str) -> str:
        body = {"source": source, "destination": destination}
        return (await self._ask(sandbox, "POST", "/files/move", _PATH, json=body)).path

    async def make_folder(self, sandbox: Sandbox, path: str) -> str:
        return (await self._ask(sandbox, "POST", "/files/folder", _PATH, json={"path": path})).path

    async def delete(self, sandbox: Sandbox, path: str) -> str:
        return (await self._ask(sandbox, "DELETE", "/files", _PATH, params={"path": path})).path

    async def _ask(self, sandbox: Sandbox, method: str, path: str, kind: TypeAdapter[_Wire], **fields: Any) -> _Wire:
        answer = await self._once(sandbox, method, path, fields)
        if answer.status == 401:
            self._endpoints.refuse(sandbox)
            answer = await self._once(sandbox, method, path, fields)
        if answer.status == 412:
            raise FileChangedError(_CHANGED)
        if answer.status >= 400:
            raise error_of(answer.status, answer.content)
        try:
            return read_json(kind, answer.content, most_values=_MOST_VALUES)
        except MalformedJsonError as error:
            raise SandboxLostError(_MALFORMED) from error

    async def _once(self, sandbox: Sandbox, method: str, path: str, fields: dict[str, Any]) -> Answer:
        async with (
            endpoint_faults(
                self._endpoints, sandbox, refused=_MALFORMED, broken="The connection to the computer was lost."
            ),
            self._endpoints.open(sandbox, _SCOPES) as endpoint,
        ):
            return await endpoint.ask(method, path, _BOUNDS, **fields)
