"""Pictures that a sandbox claims for a result: taken out of its view, and kept if they are valid."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.agent.events import MAX_PREVIEW_CHARACTERS, BodyPart
from backend_api.sandboxes.domain.content import OPAQUE, image_type
from contracts.tools import (
    MAX_CODE_PICTURES,
    MAX_CODE_PICTURES_BYTES,
    BrowserDisplay,
    CodeDisplay,
    CodePicture,
    DesktopDisplay,
    Display,
    ImageDisplay,
    ToolResult,
)

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/webp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredView:
    """A view without bytes, and the body beside it."""

    display: Display | None
    body: bytes | None = None
    media_type: str = "text/plain"
    parts: Sequence[BodyPart] = ()


def stored_view(result: ToolResult) -> StoredView:
    """The view and its body. The body is the picture of the view; of a view with several, all of them, and the text if
    it is long; without any, a program's raw output if the output is a terminal's rendering of it."""
    match result.display:
        case BrowserDisplay() | DesktopDisplay() | ImageDisplay() as display:
            image, media_type = _image(display.image)
            display = display.model_copy(update={"image": None, "image_media_type": media_type})
            return StoredView(display=display, body=image, media_type=media_type or "text/plain")
        case CodeDisplay() as display:
            return _of_code(display, result)
        case display:
            return StoredView(display=display, body=_raw(result))


def _raw(result: ToolResult) -> bytes | None:
    """A program's raw output, if the output is a terminal's rendering of it."""
    return result.raw_output.encode("utf-8", "replace") if result.raw_output is not None else None


def _of_code(display: CodeDisplay, result: ToolResult) -> StoredView:
    contents: list[tuple[bytes, str]] = []
    raw = _raw(result)
    if raw is not None or len(result.output) > MAX_PREVIEW_CHARACTERS:
        contents.append((raw or result.output.encode("utf-8", "replace"), "text/plain"))
    outputs, room, pictures = [*display.outputs], MAX_CODE_PICTURES_BYTES, 0
    for index, output in enumerate(outputs):
        if not isinstance(output, CodePicture):
            continue
        image, media_type = _image(output.image)
        fits = image is not None and len(image) <= room and pictures < MAX_CODE_PICTURES
        part = len(contents) if fits else None
        outputs[index] = CodePicture(image_media_type=media_type if fits else None, part=part)
        if fits and image is not None and media_type is not None:
            contents.append((image, media_type))
            room -= len(image)
            pictures += 1
    display = display.model_copy(update={"outputs": outputs})
    if not pictures:
        return StoredView(display=display, body=raw)  # a long text alone is kept as that of any other tool
    parts: list[BodyPart] = []
    offset = 0
    for content, media_type in contents:
        parts.append(BodyPart(offset=offset, size=len(content), media_type=media_type))
        offset += len(content)
    return StoredView(
        display=display, body=b"".join(content for content, _ in contents), media_type=OPAQUE, parts=parts
    )


def _image(encoded: str | None) -> tuple[bytes | None, str | None]:
    """The decoded picture and the type that its bytes show: the sandbox's claim is not trusted."""
    if not encoded:
        return None, None
    try:
        image = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None, None
    media_type = image_type(image[:64])
    return (image, media_type) if media_type in IMAGE_TYPES else (None, None)
