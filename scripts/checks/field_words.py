"""Names of the sources are in the words of the field: a newcomer has no language of this house to learn."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report, tracked_files

_WORDS = {
    "computer": "sandbox",
    "crew": "task group",
    "desk": "slot",
    "door": "endpoint",
    "fruitless": "attempts without progress",
    "handover": "drain, assign",
    "knock": "notify",
    "news": "changes, output",
    "pace": "throttle",
    "patience": "timeout",
    "stranger": "anonymous",
    "taker": "claimant",
    "unheard": "discarded",
    "unsaid": "pending",
}
"""What may be no part of a name, and what says it."""
_NAMES = {
    "Meant": "what it is: ResolvedCall",
    "Said": "what was said: LoggedMessage",
    "Taken": "what was taken: TakenLease",
    "Told": "what was told: SeenTexts",
    "Went": "what came of it: BranchResult",
    "_asked": "a verb: _send, _ask_server",
    "_begun": "a verb: _start",
    "_blank": "what it is empty of",
    "_ended": "a verb: _reap, _collect",
    "_heard": "_receive",
    "_knows": "_is_known",
    "_strange": "_is_unknown",
    "_tell": "a verb: _record_event, _notify",
    "_told": "a verb: _render, _describe",
    "_went": "what comes of it: _branch_result",
    "hand_over": "drain, assign",
    "hold_still": "stop_processes",
    "kept": "what is kept, or of what: without_content, list_all",
    "knows": "is_known",
    "last_words": "log_tail",
    "told_by": "event_of",
    "told_of": "describe",
    "told_specs": "specs",
    "tells": "is_in_prompt, has",
    "was_right": "record_success",
}
"""What may be no function's or class's name, and what it may be in its place."""
_STORED_OR_SENT = {
    "computer_told",
    "computer_warned",
    "door",
    "handovers",
    "has_computer",
    "needs_computer",
    "sandbox_door",
}
"""Fields of documents, events, answers and settings, which stay."""
_PROVIDERS_WORDS = ROOT / "backend-api/src/backend_api/models"
"""Providers call a tool of theirs a computer."""


def named(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """The line and the name of all that is given one, and whether it is a function or a class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name, True
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg, False
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id, False
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr, False


def better(name: str, *, is_defined: bool) -> str | None:
    """What the name should say; None where it is fine."""
    if is_defined and name in _NAMES:
        return _NAMES[name]
    if name.lower() in _STORED_OR_SENT:
        return None
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    return next((_WORDS[word] for part in parts for word in (part, part.removesuffix("s")) if word in _WORDS), None)


def main() -> int:
    sources = (p for p in tracked_files() if p.suffix == ".py" and "src" in p.relative_to(ROOT).parts)
    findings = [
        f"{path.relative_to(ROOT)}:{line}: {name}: say {word}"
        for path in sources
        for line, name, is_defined in named(ast.parse(path.read_text(encoding="utf-8")))
        if (word := better(name, is_defined=is_defined)) is not None
        and not (path.is_relative_to(_PROVIDERS_WORDS) and word == _WORDS["computer"])
    ]
    return report("is named in words that the field does not have", findings)


if __name__ == "__main__":
    sys.exit(main())
