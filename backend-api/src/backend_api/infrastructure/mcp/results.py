"""What a call of a server's tool gave, as a model and a person are told of it."""

from __future__ import annotations

import json
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

from backend_api.application.runs.masking import Mask
from backend_api.domain.agent.pictures import MAX_PICTURE_BYTES, PICTURE_TYPES
from backend_api.domain.agent.shortening import shorten
from backend_api.domain.agent.tool_runner import MAX_OUTPUT_CHARACTERS
from backend_api.domain.agent.tools import Done
from backend_api.domain.sandbox.picture_heads import sides_of
from service_kit.terminal.screen import screen_text

NOTHING = "(It answered nothing.)"
MAX_REASON_CHARACTERS = 2_000


def to_done(result: CallToolResult, mask: Mask) -> Done:
    """Texts in their order; the first picture beside them."""
    picture = next(filter(None, map(_picture, result.content)), None)
    output = "\n".join(filter(None, map(_block_text, result.content)))
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


def _block_text(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            return text
        case ImageContent(mime_type=media_type):
            return f"(A picture, {media_type[:50]}.)"
        case EmbeddedResource(resource=BlobResourceContents(uri=uri)):
            return f"({uri}, which is no text.)"
        case EmbeddedResource(resource=resource):
            return resource.text if not isinstance(resource, BlobResourceContents) else ""
        case ResourceLink(uri=uri, name=name):
            return f"{name}: {uri}"
        case _:
            return "(A sound, which is left out.)"


def _picture(block: ContentBlock) -> tuple[str, bytes] | None:
    """Of what kind it is, its bytes say."""
    if not isinstance(block, ImageContent):
        return None
    try:
        content = b64decode(block.data, validate=True)
    except (BrokenBase64, ValueError):
        return None
    found = sides_of(content) if len(content) <= MAX_PICTURE_BYTES else None
    return (found[0], content) if found is not None and found[0] in PICTURE_TYPES else None


def refused(reason: str, mask: Mask) -> Done:
    """A call that the server answered with an error of the protocol."""
    return Done(
        success=False, output=f"The server refuses the call: {shorten(mask.known(reason), MAX_REASON_CHARACTERS)}"
    )
