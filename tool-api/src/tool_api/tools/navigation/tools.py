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
            description="List the classes, functions, methods and other definitions of a source file or folder, with "
            f"their lines, or find some by a part of their name: path:lines kind name. Knows {_LANGUAGES}; what "
            ".gitignore names is left out.",
            arguments=types.CodeSymbols,
            phrase="Listing the definitions of {path}",
            scope=Scope.FILES,
            deadline_ms=_DEADLINE_MS,
            handler=controller.symbols,
            read_only=True,
        ),
        Tool(
            name="code_definition",
            description="Find where a name is defined in the source code, with the code of the definition.",
            arguments=types.CodeDefinition,
            phrase="Finding the definition of {symbol}",
            scope=Scope.FILES,
            deadline_ms=_DEADLINE_MS,
            handler=controller.definition,
            read_only=True,
        ),
        Tool(
            name="code_references",
            description="Find where a name is used in the source code, and inside of which function: imports, calls "
            "and other uses, without comments and texts. It compares names alone, so two things of one name are both "
            "found. To find any text use file_search.",
            arguments=types.CodeReferences,
            phrase="Finding uses of {symbol}",
            scope=Scope.FILES,
            deadline_ms=_DEADLINE_MS,
            handler=controller.references,
            read_only=True,
        ),
    )
