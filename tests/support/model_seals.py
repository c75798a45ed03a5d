"""What a provider binds a thought to: every byte of the request before it, model and tools included."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal

Form = Literal["chat", "messages", "responses"]
Block = str
"""One thing the model was sent, in a form that is equal for equal bytes alone."""


def sealed(prefix: Sequence[Block], text: str) -> str:
    """The signature of a thought of this text that came after all of `prefix`."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for block in prefix:
        digest.update(hashlib.sha256(block.encode("utf-8", "surrogatepass")).digest())
    return f"sealed-{digest.hexdigest()}"


def blocks_of(form: Form, body: dict[str, Any]) -> list[Block]:
    """All that a request tells the model, one block after the other."""
    instructions = {name: body.get(name) for name in ("model", "system", "instructions")}
    # Deferred tools are no part of what the model reads before the conversation.
    instructions["tools"] = [tool for tool in body.get("tools") or () if not tool.get("defer_loading")] or None
    return [block_of(instructions), *(block_of(part) for part in parts_of(form, body))]


def parts_of(form: Form, body: dict[str, Any]) -> list[Any]:
    """The conversation of a request in its smallest parts, as messages of one role may be joined."""
    if form == "responses":
        return list(body["input"])
    if form == "chat":
        return list(body["messages"])
    return [[message["role"], block] for message in body["messages"] for block in message["content"]]


def block_of(value: Any) -> Block:
    return json.dumps(_without_marks(value), sort_keys=True)


def _without_marks(value: Any) -> Any:
    """Marks for the cache tell the model nothing."""
    if isinstance(value, dict):
        return {name: _without_marks(one) for name, one in value.items() if name != "cache_control"}  # pyright: ignore[reportUnknownVariableType]
    return [_without_marks(one) for one in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]
