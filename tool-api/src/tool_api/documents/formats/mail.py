"""A mail: its sender, recipients and text, and the names of its attachments."""

from __future__ import annotations

import codecs
import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage, Message
from typing import Any, cast

from tool_api.documents.formats import page
from tool_api.documents.formats.charsets import text_of
from tool_api.documents.formats.trees import on_one_line
from tool_api.documents.formats.whole import WholeDocument
from tool_api.documents.parts import RefusedDocumentError

_HEADERS = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")
_MOST_TOLD = 100
_SMALLEST = 20
"""A shorter text only says that the mail is an HTML page."""


def open_document(data: bytes) -> WholeDocument:
    """Raises `RefusedDocumentError` if there is neither a header nor a text."""
    data = data.removeprefix(codecs.BOM_UTF8)
    # The line that the mbox format adds above a mail is no header.
    content = data.partition(b"\n")[2] if data.startswith(b"From ") else data
    mail: Any = email.message_from_bytes(content, policy=email.policy.default)
    return WholeDocument(about="[mail]", text="\n".join(_lines(mail)))


def _lines(mail: EmailMessage) -> Iterator[str]:
    headers = [f"{name}: {value}" for name in _HEADERS if (value := _header(mail, name))]
    texts, pages, others = _leaves(mail)
    plain = "\n\n".join(text for one in texts if (text := _text(one).strip("\r\n")))
    if not (headers or plain or pages):
        raise RefusedDocumentError("It is not an e-mail, or it is corrupt.")
    yield from headers
    yield ""
    if pages and (not texts or len(plain.strip()) < _SMALLEST):
        yield "\n\n".join(page.open_document(_text(one).encode()).text for one in pages)
    else:
        yield plain.replace("\r\n", "\n")
    if others:
        yield ""
        yield f"[not read: {len(others)} attached file{'' if len(others) == 1 else 's'}]"
        yield from (_attached(one) for one in others[:_MOST_TOLD])
        if len(others) > _MOST_TOLD:
            yield f"- and {len(others) - _MOST_TOLD} more"


def _leaves(mail: EmailMessage) -> tuple[list[Message], list[Message], list[Message]]:
    """The mail's text parts, their HTML versions, and all other parts; nothing from inside an attached mail."""
    texts: list[Message] = []
    pages: list[Message] = []
    others: list[Message] = []
    waiting: list[Message] = [mail]
    while waiting:
        part = waiting.pop()
        kind = part.get_content_type()
        if part.is_multipart() and kind != "message/rfc822":
            waiting += reversed(_parts(part))
        elif _is_text(part, kind) and part.get_content_disposition() != "attachment":
            (pages if kind == "text/html" else texts).append(part)
        else:
            others.append(part)
    return texts, pages, others


def _parts(mail: Message) -> list[Message]:
    payload: Any = mail.get_payload()
    parts = cast("list[Any]", payload) if isinstance(payload, list) else []
    return [one for one in parts if isinstance(one, Message)]


def _is_text(part: Message, kind: str) -> bool:
    """Whether a part is text: also one declared multipart without parts, and one without a type."""
    return kind in ("text/plain", "text/html") or kind.startswith("multipart/") or kind.strip("/") == ""


def _header(mail: Message, name: str) -> str:
    # The library keeps bytes that are not ASCII as surrogates.
    raw = [_judged(str(value), mail) for key, value in mail.raw_items() if key.lower() == name.lower()]
    try:
        return on_one_line(", ".join(str(mail.policy.header_fetch_parse(name, value)) for value in raw))
    except Exception:  # noqa: BLE001  # the library raises what it likes over a header that is odd
        return on_one_line(", ".join(raw))


def _judged(value: str, mail: Message) -> str:
    """A header that has bytes as they are: in UTF-8, in the encoding of the text, or in the one they seem to be in."""
    data = value.encode("utf-8", "surrogateescape")
    try:
        return data.decode()
    except UnicodeDecodeError:
        named = (part.get_content_charset() for part in mail.walk())
        return text_of(data, next(filter(None, named), None))


def _text(part: Message) -> str:
    content = part.get_payload(decode=True)
    return text_of(content if isinstance(content, bytes) else b"", part.get_content_charset())


def _attached(part: Message) -> str:
    try:
        name = on_one_line(part.get_filename() or "")
    except Exception:  # noqa: BLE001  # as above
        name = ""
    kind = part.get_content_type()
    if kind == "message/rfc822":
        inner = _parts(part)
        subject = _header(inner[0], "Subject") if inner else ""
        return f"- {name or subject or 'without a name'} (a mail)"
    content = part.get_payload(decode=True)
    size = len(content) if isinstance(content, bytes) else 0
    return f"- {name or 'without a name'} ({kind}, {size} bytes)"
