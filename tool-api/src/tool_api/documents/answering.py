"""What a program of its own answers about a document: one JSON object."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping

from tool_api.documents.parts import RefusedDocumentError

MAX_BYTES = 64 * 1024 * 1024
BROKEN = "It is corrupt, or a variant that this tool does not support."


def read_document() -> bytes:
    """The document on standard input, or its first bytes if it is too long, which `check_length` refuses."""
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def check_length(document: bytes) -> None:
    """Raises `RefusedDocumentError`."""
    if len(document) > MAX_BYTES:
        raise RefusedDocumentError(f"It is over the {MAX_BYTES // 1024**2} MB that can be read.")


def answer(make: Callable[[], Mapping[str, str]]) -> None:
    """Write what `make` returns to standard output, or `refused` with the reason."""
    try:
        output = make()
    except RefusedDocumentError as refused:
        output = {"refused": str(refused)}
    except MemoryError:
        output = {"refused": "Reading it takes more memory than is available."}
    except Exception:  # noqa: BLE001  # a library may raise anything over what it is given
        output = {"refused": BROKEN}
    sys.stdout.buffer.write(json.dumps(output).encode())
