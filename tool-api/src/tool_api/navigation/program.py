"""Searches the source code of a folder, as a program of its own: a crafted source may make a grammar take all time or
memory, or break.

Standard input: JSON of a `Question`. It concerns the folder the program is started in. Standard output: a line of JSON
for each `Step`.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import asdict

from tool_api.documents import fence
from tool_api.navigation.parsing import NotParsedError, parse
from tool_api.navigation.places import MAX_PLACES, MAX_TEXT_CHARACTERS, Looked, Place, Question, Step, Wanted
from tool_api.navigation.references import references_in, stands_in
from tool_api.navigation.sources import SourceFile, source_files
from tool_api.navigation.symbols import Symbol, symbols_of

_MOST_TOLD = 20
_MAX_FILE_S = 4.0


def main() -> None:
    fence.limit()
    question = Question(**json.loads(sys.stdin.buffer.read()))
    until = time.monotonic() + question.within_s
    looked, room = Looked(), {True: MAX_PLACES, False: MAX_PLACES}
    for file in source_files(question.target, question.ignores, frozenset(question.skipped)):
        if time.monotonic() > until:
            looked.is_whole = False
            break
        looked.files += 1
        kept: list[Place] = []
        for place in _places(file, question, looked):
            # Exact matches are not left out in favour of others.
            is_exact = place.name == question.name
            if room[is_exact]:
                room[is_exact] -= 1
                kept.append(place)
            else:
                looked.left_out += 1
        if kept:
            _print_step(Step(places=kept))
    _print_step(Step(looked=looked))


def _places(file: SourceFile, question: Question, looked: Looked) -> list[Place]:
    # The signal ends this program at once: a library's work can't be interrupted in another way.
    signal.setitimer(signal.ITIMER_REAL, _MAX_FILE_S)
    try:
        return _understood(file, question, looked)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _understood(file: SourceFile, question: Question, looked: Looked) -> list[Place]:
    if file.source is None:
        _note(looked.large, file.path)
        return []
    if not _is_worth_it(file.source, question):
        return []
    _print_step(Step(at=file.path))
    try:
        tree = parse(file.source, file.language)
    except NotParsedError:
        _note(looked.hard, file.path)
        return []
    symbols = symbols_of(file.source, tree, file.language)
    if question.wanted == Wanted.REFERENCES:
        return list(references_in(file.path, file.source, tree, question.name, symbols))
    lines = file.source.split(b"\n") if question.wanted == Wanted.DEFINITIONS else []
    return [_place(file.path, symbol, lines) for symbol in symbols if _is_wanted(symbol, question)]


def _note(paths: list[str], path: str) -> None:
    if len(paths) < _MOST_TOLD:
        paths.append(path)


def _is_worth_it(source: bytes, question: Question) -> bool:
    if question.wanted == Wanted.SYMBOLS:
        return True
    if question.wanted == Wanted.MATCHING:
        # Letters outside of ASCII have no other case in bytes.
        return not question.name.isascii() or question.name.lower().encode() in source.lower()
    return stands_in(source, question.name)


def _is_wanted(symbol: Symbol, question: Question) -> bool:
    if not symbol.is_listed:
        return False
    if question.wanted == Wanted.MATCHING:
        return question.name.lower() in symbol.name.lower()
    if question.wanted == Wanted.DEFINITIONS:
        return symbol.name == question.name and f".{symbol.container}".endswith(
            f".{question.container}" if question.container else ""
        )
    return True


def _place(path: str, symbol: Symbol, lines: list[bytes]) -> Place:
    # A character has four bytes at most, so at least as many characters stay as fit.
    source = b"\n".join(lines[symbol.line - 1 : symbol.end_line])[: 4 * (MAX_TEXT_CHARACTERS + 1)]
    return Place(
        path=path,
        line=symbol.line,
        end_line=symbol.end_line,
        kind=symbol.kind,
        name=symbol.name,
        container=symbol.container,
        text=_whole_lines(source.decode("utf-8", "replace")),
    )


def _whole_lines(text: str) -> str:
    """The first whole lines that fit."""
    return text if len(text) <= MAX_TEXT_CHARACTERS else text[:MAX_TEXT_CHARACTERS].rpartition("\n")[0]


def _print_step(step: Step) -> None:
    line = json.dumps({key: value for key, value in asdict(step).items() if value is not None})
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()
