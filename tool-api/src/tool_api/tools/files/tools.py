"""The file tools' rows of the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.files import types
from tool_api.tools.files.controller import FileController
from tool_api.tools.tool import AnyTool, Tool

_DEADLINE_MS = 30_000
_READ_DEADLINE_MS = 60_000
_SEARCH_DEADLINE_MS = 45_000


def file_tools(controller: FileController) -> tuple[AnyTool, ...]:
    """Read, write, append, edit, list, find, search, move and delete."""
    scope = Scope.FILES
    return (
        Tool(
            name="file_read",
            description="Read a file as text, or some of its lines. PDF, Office and OpenDocument files, EPUB, RTF and "
            "EML become text, of which start_page and end_page ask for some pages; of a picture you see it.",
            arguments=types.FileRead,
            phrase="Reading {path}",
            scope=scope,
            deadline_ms=_READ_DEADLINE_MS,
            handler=controller.read,
            read_only=True,
        ),
        Tool(
            name="file_write",
            description="Create or overwrite a text file in the sandbox, with the folders it needs.",
            arguments=types.FileWrite,
            phrase="Writing {path}",
            scope=scope,
            deadline_ms=_DEADLINE_MS,
            handler=controller.write,
        ),
        Tool(
            name="file_append",
            description="Add text to the end of a file, made if it does not exist.",
            arguments=types.FileAppend,
            phrase="Adding to {path}",
            scope=scope,
            deadline_ms=_DEADLINE_MS,
            handler=controller.append,
        ),
        Tool(
            name="file_edit",
            description="Replace an exact piece of text in a file. "
            "It must occur exactly once, unless replace_all is true.",
            arguments=types.FileEdit,
            phrase="Editing {path}",
            scope=scope,
            deadline_ms=_DEADLINE_MS,
            handler=controller.edit,
        ),
        Tool(
            name="file_list",
            description="List a folder of the sandbox; folders end in a slash.",
            arguments=types.FileList,
            phrase="Listing {path}",
            scope=scope,
            deadline_ms=_DEADLINE_MS,
            handler=controller.list,
            read_only=True,
        ),
        Tool(
            name="file_find",
            description="Find files and folders by a glob pattern.",
            arguments=types.FileFind,
            phrase="Finding {pattern}",
            scope=scope,
            deadline_ms=_DEADLINE_MS,
            handler=controller.find,
            read_only=True,
        ),
        Tool(
            name="file_search",
            description="Search the contents of files by a regular expression; answers path:line:text.",
            arguments=types.FileSearch,
            phrase="Searching for {pattern}",
            scope=scope,
            deadline_ms=_SEARCH_DEADLINE_MS,
            handler=controller.search,
            read_only=True,
        ),
        Tool(
            name="file_move",
            description="Move or rename a file or folder.",
            arguments=types.FileMove,
            phrase="Moving {source} to {destination}",
            scope=scope,
            deadline_ms=_DEADLINE_MS,
            handler=controller.move,
        ),
        Tool(
            name="file_delete",
            description="Delete a file, or with recursive a folder and all it holds.",
            arguments=types.FileDelete,
            phrase="Deleting {path}",
            scope=scope,
            deadline_ms=_DEADLINE_MS,
            handler=controller.delete,
            dangerous=True,
        ),
    )
