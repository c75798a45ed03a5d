"""The grammar of each language, and the definitions in it.

The queries (`queries/*.scm`) mark a definition `@symbol.<kind>` and its name `@name`, or `@declarator` if the name is
nested in that, as in C. `@container` is the owner of a definition that stands outside it, and `@scope.<kind>` encloses
others without being listed itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tree_sitter import Language, Query

_QUERIES = Path(__file__).parent / "queries"


@dataclass(frozen=True, slots=True)
class _Source:
    """A grammar's module, the function in it, and the queries that hold for it."""

    module: str
    queries: tuple[str, ...]
    function: str = "language"


_LANGUAGES = {
    "python": _Source("tree_sitter_python", ("python",)),
    "javascript": _Source("tree_sitter_javascript", ("javascript", "ecmascript")),
    "typescript": _Source("tree_sitter_typescript", ("typescript", "ecmascript"), "language_typescript"),
    "tsx": _Source("tree_sitter_typescript", ("typescript", "ecmascript"), "language_tsx"),
    "go": _Source("tree_sitter_go", ("go",)),
    "rust": _Source("tree_sitter_rust", ("rust",)),
    "java": _Source("tree_sitter_java", ("java",)),
    "c": _Source("tree_sitter_c", ("c",)),
    "cpp": _Source("tree_sitter_cpp", ("cpp", "c")),
    "csharp": _Source("tree_sitter_c_sharp", ("csharp",)),
    "ruby": _Source("tree_sitter_ruby", ("ruby",)),
    "php": _Source("tree_sitter_php", ("php",), "language_php"),
    "bash": _Source("tree_sitter_bash", ("bash",)),
}


@dataclass(frozen=True, slots=True)
class Grammar:
    """The parser of a language, and the query for its definitions."""

    language: Language
    query: Query


@cache
def grammar(name: str) -> Grammar:
    """The grammar of a language, loaded at its first use."""
    source = _LANGUAGES[name]
    load: Callable[[], object] = getattr(importlib.import_module(source.module), source.function)
    language = Language(load())
    text = "".join((_QUERIES / f"{query}.scm").read_text() for query in source.queries)
    return Grammar(language, Query(language, text))
