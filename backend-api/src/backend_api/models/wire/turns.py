"""Helpers for writing turns that the adapters of all providers share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic_core import to_json

from backend_api.agent.model import AssistantTurn, ModelRequest, NoteTurn, Thinking, ToolTurn, UserTurn
from backend_api.agent.pictures import Image
from backend_api.models.wire.extra_fields import belongs_to_text

_END = re.compile(r"</(?=note)", re.IGNORECASE)
GONE = "It no longer exists or can't be read."
UNREADABLE = f"A picture was taken here. {GONE}"


def note_text(turn: NoteTurn) -> str:
    """A note, marked to distinguish it from the person's words; quoted text in it, such as a summary, can't end it.

    The output of a tool is sent as it is: marks within a result are its text, as the instructions say. If they were
    escaped, the model would look for `< note>` in a file that has `<note>`. No protection depends on them.
    """
    return f"<note>{_END.sub('</ ', turn.text)}</note>"


def shown_note_text(turn: NoteTurn, request: ModelRequest | None) -> str:
    """Like `note_text`, with a remark for each picture that can't be sent with it."""
    gone = [GONE for picture in turn.pictures if request is None or picture not in request.pictures]
    return note_text(NoteTurn(text="\n\n".join([turn.text, *gone])) if gone else turn)


def images_of(turn: ToolTurn | NoteTurn, request: ModelRequest) -> list[Image]:
    """The pictures of the turn that can be sent."""
    return [request.pictures[picture] for picture in turn.pictures if picture in request.pictures]


def data_url(image: Image) -> str:
    """The picture as a data URL."""
    return f"data:{image.media_type};base64,{image.base64}"


def result_text(turn: ToolTurn, request: ModelRequest | None) -> str:
    """The tool's output with the deployment's notes. A result without pictures reads alike in all requests."""
    unread = [UNREADABLE for picture in turn.pictures if request is None or picture not in request.pictures]
    notes = [note_text(NoteTurn(text=text)) for text in (turn.note, *unread) if text]
    return "\n\n".join(text for text in (turn.output, *notes) if text)


def user_text(turn: UserTurn) -> str:
    """The text, followed by the names of attached files; a blank text, which providers refuse, is replaced by words. A
    name comes from the sandbox: one with several lines, or that changes the writing direction, could pass for the
    person's text, so it is quoted."""
    if not turn.attachments:
        return turn.text if turn.text.strip() else "(empty message)"
    names = "\n".join(f"- {name if name.isprintable() else json.dumps(name)}" for name in turn.attachments)
    return f"{turn.text}\n\n[Files attached, in the workspace:\n{names}]".strip()


def pieces_of(turn: AssistantTurn) -> Iterator[str | Thinking]:
    """The text of a turn and the thinking that can be sent back, in order. No piece of text is blank, and no thinking
    stands at the end, where providers refuse it, unless it belongs to the text before it."""
    begin = 0
    last = len(turn.text.rstrip())
    for thinking in turn.thinking:
        is_kept = thinking.signature is not None or thinking.opaque is not None
        is_last = thinking.offset >= last and not turn.calls
        if not is_kept or (is_last and not belongs_to_text(thinking.opaque)):
            continue
        if turn.text[begin : thinking.offset].strip():
            yield turn.text[begin : thinking.offset]
        begin = max(begin, thinking.offset)
        yield thinking
    if turn.text[begin:].strip():
        yield turn.text[begin:]


def body_of(
    fields: dict[str, Any], conversation: str, pieces: Iterable[bytes], tools: Sequence[str] | None = None
) -> bytes:
    """A request in JSON: its fields, `tools` if they are JSON already, and under the name `conversation` the messages,
    whose pieces are JSON already."""
    listed = f',"tools":[{",".join(tools)}]'.encode() if tools else b""
    return b"".join((to_json(fields)[:-1], listed, b',"', conversation.encode(), b'":[', b",".join(pieces), b"]}"))
