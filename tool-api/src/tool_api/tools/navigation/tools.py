"""The rows of code navigation in the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.navigation import types
from tool_api.tools.navigation.controller import NavigationController
from tool_api.tools.tool import AnyTool, Tool

_DEADLINE_MS = 40_000
_LANGUAGES = "Python, JavaScript, TypeScript, Go, Rust, Java, C, C++, C#, Ruby, PHP and Bash"


def navigation_tools(controller: NavigationController) -> tuple[AnyTool, ...]:
    """Symbols, definition and references. Ranges of a file and texts in files are `file_read` and `file_search`."""
    return (
        Tool(
            name="code_symbols",
            description="List the definitions of a source file or folder, or find some by a part of their name: "
            f"path:lines kind name. Knows {_LANGUAGES}.",
            arguments=types.CodeSymbols,
            phrase="Listing the definitions of {path}",
            scope=Scope.FILES,
            deadline_ms=_DEADLINE_MS,
            handler=controller.symbols,
            read_only=True,
        ),
        Tool(
            name="code_definition",
            description="Find where a name is defined, with the code of the definition.",
            arguments=types.CodeDefinition,
            phrase="Finding the definition of {symbol}",
            scope=Scope.FILES,
            deadline_ms=_DEADLINE_MS,
            handler=controller.definition,
            read_only=True,
        ),
        Tool(
            name="code_references",
            description="Find where a name is used in source code, and inside of which function. It compares names "
            "alone: two things of one name are both found.",
            arguments=types.CodeReferences,
            phrase="Finding uses of {symbol}",
            scope=Scope.FILES,
            deadline_ms=_DEADLINE_MS,
            handler=controller.references,
            read_only=True,
        ),
    )
