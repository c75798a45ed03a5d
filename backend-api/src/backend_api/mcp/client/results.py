"""Converts the result of a tool call for the model and for people."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as BrokenBase64

from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from backend_api.agent.pictures import MAX_PICTURE_BYTES, PICTURE_TYPES
from backend_api.agent.shortening import shorten
from backend_api.agent.tool import Done
from backend_api.agent.tool_runner import MAX_OUTPUT_CHARACTERS
from backend_api.kit.masking import Mask
from backend_api.sandboxes.domain.picture_heads import sides_of
from service_kit.terminal.screen import screen_text

NOTHING = "(It returned nothing.)"
MAX_REASON_CHARACTERS = 2_000
_ADDRESS = re.compile(r"\s*data:[^,]{0,200},", re.IGNORECASE)
_OF_ADDRESSES = str.maketrans("-_", "+/")
_TEXT_TYPE = re.compile(
    r"text/|application/(json|csv|xml|x-?ndjson|(x-)?yaml|javascript)\b|[^;]*\+(json|xml)\b", re.IGNORECASE
)
_Picture = tuple[str, bytes]
"""The media type of a picture, and its bytes."""


def to_done(result: CallToolResult, mask: Mask) -> Done:
    """The texts in their order, with the first picture beside them."""
    blocks = [(block, _picture(block)) for block in result.content]
    picture = next((found for _, found in blocks if found is not None), None)
    texts = [_block_text(block, found) for block, found in blocks]
    count = sum(isinstance(block, ImageContent) or found is not None for block, found in blocks)
    output = "\n".join(filter(None, [*texts, _hidden_note(count, picture is not None)]))
    if not output and result.structured_content is not None:
        output = json.dumps(result.structured_content, ensure_ascii=False)
    success = not result.is_error
    output = mask.known(output) or NOTHING
    if picture is None and "\x1b" in output:
        # No more is kept of it: what is drawn is cut before, which takes its time.
        shown = screen_text(shorten(output, MAX_OUTPUT_CHARACTERS))
        return Done(success=success, output=shown or NOTHING, body=output.encode("utf-8", "replace"))
    if picture is None:
        return Done(success=success, output=output)
    media_type, content = picture
    return Done(
        success=success,
        output=output,
        body=content,
        body_media_type=media_type,
        display={"type": "image", "path": None, "image": None, "image_media_type": media_type},
    )


def _hidden_note(count: int, is_one_shown: bool) -> str:
    """The note on how many pictures are not shown."""
    if count <= is_one_shown:
        return ""
    if count == 1:
        return "(The picture can't be shown.)"
    if not is_one_shown:
        return f"(None of the {count} pictures can be shown.)"
    return f"(One of the {count} pictures is shown, {count - 1} {'is' if count == 2 else 'are'} not.)"


def _block_text(block: ContentBlock, picture: _Picture | None) -> str:
    match block:
        case TextContent(text=text):
            return text
        case ImageContent(mime_type=media_type):
            return f"(A picture, {media_type[:50]}.)"
        case EmbeddedResource(resource=BlobResourceContents(uri=uri, mime_type=media_type, blob=blob)):
            if picture is not None:
                return f"({uri}, a picture, {picture[0]}.)"
            text = _text(blob) if _TEXT_TYPE.match(media_type or "") else None
            return f"({uri}, which is not text.)" if text is None else text
        case EmbeddedResource(resource=resource):
            return resource.text if not isinstance(resource, BlobResourceContents) else ""
        case ResourceLink(uri=uri, name=name):
            return f"{name}: {uri}"
        case _:
            return "(Audio, which was left out.)"


def _picture(block: ContentBlock) -> _Picture | None:
    """The picture in a block, if any; its bytes tell its type."""
    match block:
        case ImageContent(data=data):
            content = _decoded(data)
        case EmbeddedResource(resource=BlobResourceContents(blob=data)):
            content = _decoded(data)
        case _:
            return None
    found = sides_of(content) if content is not None and len(content) <= MAX_PICTURE_BYTES else None
    return (found[0], content) if content is not None and found is not None and found[0] in PICTURE_TYPES else None


def _text(blob: str) -> str | None:
    content = _decoded(blob)
    try:
        text = None if content is None else content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if text is None or "\0" in text else text


def _decoded(data: str) -> bytes | None:
    """Decodes base64 in any of its forms: with line breaks, as a data URL, in the URL-safe alphabet, without
    padding."""
    written = "".join(_ADDRESS.sub("", data, count=1).split()).rstrip("=").translate(_OF_ADDRESSES)
    try:
        return b64decode(written + "=" * (-len(written) % 4), validate=True)
    except (BrokenBase64, ValueError):
        return None


def refused(reason: str, mask: Mask) -> Done:
    """A call that the server answered with an error of the protocol."""
    return Done(
        success=False, output=f"The server refuses the call: {shorten(mask.known(reason), MAX_REASON_CHARACTERS)}"
    )
