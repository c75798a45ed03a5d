"""The definitions of a source file, each with what encloses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node, QueryCursor, Tree

from tool_api.navigation.grammars import grammar
from tool_api.navigation.places import MAX_NAME_CHARACTERS

_FUNCTIONS = frozenset({"function", "method", "constructor"})
_VALUES = frozenset({"variable", "constant", "field", "property", "declaration"})
_TYPES = frozenset({"class", "interface", "trait", "struct", "enum", "union", "type"})
_WORD = re.compile(r"[^\W\d]\w*")
_SEPARATOR = re.compile(r"::|\.|\\")
_MATCH_LIMIT = 10_000
"""Matches that a query may hold at a time: without a limit a crafted source could make it hold all of them."""
_MAX_DEPTH = 500


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition: bytes from `start` to `end`, lines from 1; `name_start` is the position of its name. `is_listed` is
    false of one that only encloses others, such as an unnamed function."""

    kind: str
    name: str
    container: str
    line: int
    end_line: int
    start: int
    end: int
    name_start: int
    is_listed: bool

    @property
    def way(self) -> str:
        """The name, qualified by what encloses it."""
        return f"{self.container}.{self.name}" if self.container and self.name else self.name or self.container


def symbols_of(source: bytes, tree: Tree, language: str) -> list[Symbol]:
    """The definitions in the order of the source, without values inside functions."""
    cursor = QueryCursor(grammar(language).query, match_limit=_MATCH_LIMIT)
    cursor.set_max_start_depth(_MAX_DEPTH)
    first: dict[int, _Capture] = {}
    for pattern, captures in cursor.matches(tree.root_node):
        found = _read_capture(source, pattern, captures)
        known = first.get(found.name_start)
        if known is None or pattern < known.pattern:
            first[found.name_start] = found
    return list(_nested(sorted(first.values(), key=lambda found: (found.node.start_byte, -found.node.end_byte))))


@dataclass(frozen=True, slots=True)
class _Capture:
    pattern: int
    node: Node
    kind: str
    name: str
    container: str
    name_start: int
    is_listed: bool


def _read_capture(source: bytes, pattern: int, captures: dict[str, list[Node]]) -> _Capture:
    label = next(label for label in captures if label.startswith(("symbol.", "scope.")))
    node, (use, _, kind) = captures[label][0], label.partition(".")
    named = captures.get("name") or [_declared(node) for node in captures.get("declarator", [])]
    container = _text(source, captures["container"][0]) if "container" in captures else ""
    if not named:
        return _Capture(pattern, node, kind, "", "", node.start_byte, is_listed=False)
    name = _text(source, named[0])
    if kind not in ("namespace", "module") and named[0].type != "destructor_name":
        before, _, name = _split(name)
        container = container or before
    if use == "scope" or "container" in captures:
        container, name = _plain(container), _plain(name) if use == "scope" else name
    start = named[0].start_byte
    if named[0].type == "qualified_identifier":
        start = named[0].end_byte - len(name.encode())
    return _Capture(pattern, node, kind, name, container, start, is_listed=use == "symbol")


def _declared(node: Node) -> Node:
    """The name in a declarator of a C-like language."""
    while True:
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("reference_declarator", "parenthesized_declarator"):
            inner = node.named_child(node.named_child_count - 1) if node.named_child_count else None
        if inner is None:
            return node
        node = inner


def _text(source: bytes, node: Node) -> str:
    # The node's own `text` would call into the parser each time.
    return source[node.start_byte : min(node.end_byte, node.start_byte + 4 * MAX_NAME_CHARACTERS)].decode(
        "utf-8", "replace"
    )[:MAX_NAME_CHARACTERS]


def _split(name: str) -> tuple[str, str, str]:
    """The parts before and after the last separator outside the brackets of a type."""
    if "operator" in name or "<" in name.partition("::")[2]:
        return "", "", name
    at = list(_SEPARATOR.finditer(name))
    if not at or not name[at[-1].end() :]:
        return "", "", name
    return _SEPARATOR.sub(".", name[: at[-1].start()]), at[-1][0], name[at[-1].end() :]


def _plain(written: str) -> str:
    """A type's name without what surrounds it, such as a pointer's star or parameters of its own."""
    found = _WORD.search(written.removeprefix("&mut ").removeprefix("dyn "))
    return found[0] if found else written


def _nested(ordered: list[_Capture]) -> Iterator[Symbol]:
    around: list[Symbol] = []
    values: set[tuple[str, str]] = set()
    for found in ordered:
        span = (found.node.start_byte, found.node.end_byte)
        # Names declared by one statement are not nested in each other.
        while around and (around[-1].end < span[1] or (around[-1].start, around[-1].end) == span):
            around.pop()
        within = around[-1] if around else None
        kind = found.kind
        if within is not None and within.kind in _FUNCTIONS and kind in _VALUES:
            continue
        if kind == "variable" and within is not None and within.kind in _TYPES:
            kind = "field"
        elif kind == "function" and (found.container or (within is not None and within.kind in _TYPES)):
            kind = "method"
        container = ".".join(filter(None, (within.way if within else "", found.container)))[:MAX_NAME_CHARACTERS]
        symbol = Symbol(
            kind=kind,
            name=found.name,
            container=container,
            line=found.node.start_point.row + 1,
            # A line that is ended by it is not begun.
            end_line=found.node.end_point.row + (found.node.end_point.column > 0),
            start=span[0],
            end=span[1],
            name_start=found.name_start,
            is_listed=found.is_listed,
        )
        around.append(symbol)
        if kind in ("variable", "field"):
            # Given another value later, it is the same one.
            if (container, found.name) in values:
                continue
            values.add((container, found.name))
        yield symbol
