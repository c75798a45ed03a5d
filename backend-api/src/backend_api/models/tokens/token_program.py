"""Counts tokens for `TokenProcess`: `python -I token_program.py IDLE_S`.

A line of standard input is a list of a vocabulary's name and a list of texts; the output line for it has a number for
each text, or null. It ends with its input, or after `IDLE_S` seconds without a request.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import splintr


@cache
def vocabulary(name: str) -> Callable[[str], list[int]]:
    """Loads a vocabulary, which takes half a second and 25 to 45 MB."""
    package: Any = splintr
    encode: Callable[[str], list[int]] = package.Tokenizer.from_pretrained(name).encode_ordinary
    return encode


def count(name: str, text: str) -> int | None:
    try:
        return len(vocabulary(name)(text))
    except UnicodeError:
        # Half of a surrogate pair, which is not sent to providers either.
        return None


def main() -> None:
    idle_s, waiting = float(sys.argv[1]), b""
    while select.select([0], [], [], idle_s)[0] and (data := os.read(0, 1 << 20)):
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            name, texts = json.loads(line)
            sys.stdout.write(json.dumps([count(name, text) for text in texts]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
