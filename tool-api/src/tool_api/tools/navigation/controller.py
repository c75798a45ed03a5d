"""The work of code navigation."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath

from contracts.tools import ToolResult
from tool_api.errors import PathForbiddenError
from tool_api.navigation.ignored import MAX_BYTES, NAME
from tool_api.navigation.places import Question, Wanted
from tool_api.navigation.programs import Answer, SourcePrograms
from tool_api.tools.faults import ArgumentsT, Handler, explain_faults
from tool_api.tools.navigation import answers
from tool_api.tools.navigation.types import CodeDefinition, CodeReferences, CodeSymbols
from tool_api.tools.tool import CallContext, failed
from tool_api.workspace import Located, Workspace

_LOOK_S = 20.0
_TO_TELL_S = 8.0
_MOST_ABOVE = 32
_SEPARATOR = re.compile(r"::|->|[.#\\]")


def _explain_faults(
    handler: Handler[NavigationController, ArgumentsT],
) -> Handler[NavigationController, ArgumentsT]:
    return explain_faults(handler, about=lambda arguments: str(arguments.model_dump().get("path")))


@dataclass(frozen=True, slots=True)
class _QueryResult:
    path: str
    is_folder: bool
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationController:
    """Reads source code inside the workspace, the temporary folder and that of skills."""

    workspace: Workspace
    programs: SourcePrograms

    @_explain_faults
    async def symbols(self, call: CallContext, arguments: CodeSymbols) -> ToolResult:
        query = arguments.query.strip()
        found = await self._query(call, arguments.path, Wanted.MATCHING if query else Wanted.SYMBOLS, query)
        return answers.symbols(found.path, found.answer, query, is_folder=found.is_folder)

    @_explain_faults
    async def definition(self, call: CallContext, arguments: CodeDefinition) -> ToolResult:
        container, name = _split_name(arguments.symbol)
        if not name:
            return failed(answers.NO_NAME)
        found = await self._query(call, arguments.path, Wanted.DEFINITIONS, name, container)
        return answers.definitions(found.path, found.answer, arguments.symbol.strip())

    @_explain_faults
    async def references(self, call: CallContext, arguments: CodeReferences) -> ToolResult:
        _, name = _split_name(arguments.symbol)
        if not name:
            return failed(answers.NO_NAME)
        found = await self._query(call, arguments.path, Wanted.REFERENCES, name)
        return answers.references(found.path, found.answer, name)

    async def _query(
        self, call: CallContext, path: str, wanted: Wanted, name: str, container: str = ""
    ) -> _QueryResult:
        with self.workspace.locate(path) as place:
            is_folder = stat.S_ISDIR(place.stat().st_mode)
            question = Question(
                wanted=wanted,
                target="." if is_folder else f"./{place.name}",
                name=name,
                container=container,
                ignores=await asyncio.to_thread(self._ignores, place) if is_folder else [],
                within_s=max(1.0, min(_LOOK_S, call.remaining_s - _TO_TELL_S)),
            )
            folder = place.open_folder() if is_folder else os.dup(place.folder)
            try:
                answer = await self.programs.answer(question, folder)
            finally:
                os.close(folder)
            above = place.path if is_folder else str(PurePosixPath(place.path).parent)
            return _QueryResult(place.path, is_folder, answers.placed(answer, "" if above == "." else f"{above}/"))

    def _ignores(self, place: Located) -> list[tuple[str, str]]:
        """The text of `.gitignore` of each folder of the workspace above, with the way from there."""
        parts = PurePosixPath(place.path).parts
        if place.path.startswith("/") or len(parts) > _MOST_ABOVE:
            return []
        found: list[tuple[str, str]] = []
        for depth in range(len(parts)):
            try:
                with self.workspace.locate("/".join([*parts[:depth], NAME]), follow=False) as file:
                    with os.fdopen(file.open(), "rb") as opened:
                        text = opened.read(MAX_BYTES).decode("utf-8", "replace")
            except (OSError, PathForbiddenError):
                continue
            found.append(("/".join(parts[depth:]), text))
        return found


def _split_name(symbol: str) -> tuple[str, str]:
    """The container of a name, and the name itself; empty if there is none."""
    written = symbol.strip().removesuffix("()").lstrip("$&*")
    if not re.search(r"\w", written) or "\n" in written:
        return "", ""
    if "operator" in written:
        before, found, name = written.rpartition("::")
        return (_SEPARATOR.sub(".", before), name) if found else ("", written)
    *before, name = _SEPARATOR.split(written)
    return ".".join(filter(None, before)), name.lstrip("$")
