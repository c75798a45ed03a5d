"""A file's source as a tree, within a bound of time."""

from __future__ import annotations

import time

from tree_sitter import Parser, Tree

from tool_api.navigation.grammars import grammar
from tool_api.text_encoding import encoding_of, shown_text

MAX_PARSE_S = 2.0
_PIECE = 65_536


class NotParsedError(Exception):
    """The grammar takes too long over the source."""


def as_utf8(data: bytes) -> bytes | None:
    """The text of a file, with a mark for invalid bytes; None if it is binary."""
    encoding = encoding_of(data)
    return None if encoding is None else shown_text(encoding.decode(data)).encode()


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
