"""A file's source as a tree, within a bound of time."""

from __future__ import annotations

import time

from tree_sitter import Parser, Tree

from tool_api.navigation.grammars import grammar

MAX_PARSE_S = 2.0
_PIECE = 65_536
_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


class NotParsedError(Exception):
    """The grammar takes too long over it."""


def as_utf8(data: bytes) -> bytes | None:
    """The text of a file, with a mark in the place of what is none; None where it is binary."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").encode()
    if b"\0" in data[:8192]:
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data


def parse(source: bytes, language: str) -> Tree:
    """Raises `NotParsedError`."""
    until = time.monotonic() + MAX_PARSE_S
    try:
        return Parser(grammar(language).language).parse(
            lambda at, _: source[at : at + _PIECE],
            progress_callback=lambda _at, _has_error: time.monotonic() > until,
        )
    except ValueError as error:
        raise NotParsedError from error
