"""References to a name in a source file, without comments and strings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

from tree_sitter import Node, Tree

from tool_api.navigation.places import MAX_NAME_CHARACTERS, Place
from tool_api.navigation.symbols import Symbol

_NAMES = frozenset({"constant", "name", "variable_name", "command_name", "shorthand_property_identifier_pattern"})
_MOST_OF_A_FILE = 2000
_MOST_LOOKED_AT = 200
"""Definitions before a name that are searched for the one that encloses it."""
_WORD_SIGNS = b"[A-Za-z0-9_\x80-\xff]"


def stands_in(source: bytes, name: str) -> bool:
    """Whether the source holds the name at all, so that parsing it is worthwhile."""
    return _pattern(name).search(source) is not None


def references_in(path: str, source: bytes, tree: Tree, name: str, symbols: list[Symbol]) -> Iterator[Place]:
    """The uses and definitions of a name, in order; `symbols` are the file's."""
    defined = {symbol.name_start: symbol for symbol in symbols if symbol.is_listed}
    lines = source.split(b"\n")
    starts = [symbol.start for symbol in symbols]
    for found in islice(_pattern(name).finditer(source), _MOST_OF_A_FILE):
        node = tree.root_node.named_descendant_for_byte_range(found.start(), found.end())
        if node is None or node.start_byte != found.start() or node.end_byte != found.end() or not _is_name(node):
            continue
        row, own = node.start_point.row, defined.get(node.start_byte)
        around = None if own else _enclosing(symbols, starts, node)
        yield Place(
            path=path,
            line=row + 1,
            end_line=row + 1,
            kind="definition" if own else "import" if around and around.kind == "import" else "use",
            name=name,
            container=own.container if own else (around.way if around else "")[:MAX_NAME_CHARACTERS],
            text=lines[row].decode("utf-8", "replace").strip()[:MAX_NAME_CHARACTERS],
        )


def _pattern(name: str) -> re.Pattern[bytes]:
    return re.compile(b"(?<!" + _WORD_SIGNS + b")" + re.escape(name.encode()) + b"(?!" + _WORD_SIGNS + b")")


def _is_name(node: Node) -> bool:
    if node.child_count:
        # A word of a shell is inside of the name of a command.
        return False
    if node.type == "word":
        return node.parent is not None and node.parent.type in ("command_name", "function_definition")
    return node.type.endswith("identifier") or node.type in _NAMES


def _enclosing(symbols: list[Symbol], starts: list[int], node: Node) -> Symbol | None:
    """The innermost definition or import that a name is in, which is not the one it names."""
    for index in range(
        bisect_right(starts, node.start_byte) - 1, max(-1, bisect_right(starts, node.start_byte) - 200), -1
    ):
        symbol = symbols[index]
        if symbol.end >= node.end_byte and symbol.name_start != node.start_byte and symbol.kind not in ("variable",):
            return symbol
    return None
