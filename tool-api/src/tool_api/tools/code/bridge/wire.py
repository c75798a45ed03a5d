"""Messages of the Jupyter protocol, signed and read. What a kernel sends is of any size and shape."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeGuard, cast

_DELIMITER = b"<IDS|MSG>"
_VERSION = "5.4"

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """`parent` is the id of the request it belongs to."""

    kind: str
    parent: str
    content: Fields


class Wire:
    """Signs with the key that the kernel was given."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._session = uuid.uuid4().hex

    def pack(self, kind: str, content: Fields) -> tuple[str, list[bytes]]:
        """The message's id, and its frames."""
        message_id = uuid.uuid4().hex
        header = {
            "msg_id": message_id,
            "session": self._session,
            "username": "agent",
            "date": datetime.now(UTC).isoformat(),
            "msg_type": kind,
            "version": _VERSION,
        }
        parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
        return message_id, [_DELIMITER, self._signature(parts), *parts]

    def unpack(self, frames: list[bytes]) -> Message | None:
        """None where it is none, or of somebody else."""
        try:
            signature, *parts = frames[frames.index(_DELIMITER) + 1 :][:5]
        except ValueError:
            return None
        if len(parts) < 4 or not hmac.compare_digest(signature, self._signature(parts)):
            return None
        try:
            header, parent, _, content = (json.loads(part) for part in parts)
        except (ValueError, RecursionError):
            return None
        if not (is_fields(header) and is_fields(parent) and is_fields(content)):
            return None
        return Message(text_of(header.get("msg_type")), text_of(parent.get("msg_id")), content)

    def _signature(self, parts: list[bytes]) -> bytes:
        digest = hmac.new(self._key, digestmod=hashlib.sha256)
        for part in parts:
            digest.update(part)
        return digest.hexdigest().encode()


def is_fields(value: object) -> TypeGuard[Fields]:
    """Whether it is an object of JSON."""
    return isinstance(value, dict)


def text_of(value: object) -> str:
    """A text, or the lines of one; else nothing."""
    if isinstance(value, list):
        return "".join(line for line in cast("list[object]", value) if isinstance(line, str))
    return value if isinstance(value, str) else ""
