"""Results of tools of MCP servers."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from mcp_types import CallToolResult, ContentBlock, EmbeddedResource, ImageContent, TextContent

from backend_api.agent.tool_runner import MAX_OUTPUT_CHARACTERS
from backend_api.kit.masking import Mask
from backend_api.mcp.client.results import to_done


def answered(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])


def test_what_a_program_drew_is_told_as_a_terminal_shows_it_and_kept_as_it_came() -> None:
    drawn = "\x1b[32m1 %\x1b[0m\r\x1b[K\x1b[32m100 %\x1b[0m\n"
    done = to_done(answered(drawn), Mask([]))
    assert (done.output, done.body) == ("100 %\n", drawn.encode())


def test_text_without_escape_sequences_stays_as_it_came() -> None:
    done = to_done(answered("a\r\nb\tc\r"), Mask([]))
    assert (done.output, done.body) == ("a\r\nb\tc\r", None)


def test_a_long_text_is_cut_before_it_is_drawn_and_kept_as_it_came() -> None:
    drawn = "\x1b[32mfirst\x1b[0m\n" + "x" * 3_900_000 + "\n1 %\r2 %\n"
    done = to_done(answered(drawn), Mask([]))
    assert len(done.output) <= MAX_OUTPUT_CHARACTERS
    assert done.output.startswith("first\nxxx")
    assert done.output.endswith("xxx\n2 %\n")
    assert "characters left out" in done.output
    assert done.body == drawn.encode()


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0" + bytes(range(0xF0, 0x100)) * 20 + b"\0\0\0\0IEND\xaeB`\x82"
IN_BASE64 = b64encode(PNG).decode()
OF_ADDRESSES = IN_BASE64.replace("+", "-").replace("/", "_")


def picture(data: str, media_type: str = "image/png") -> ImageContent:
    return ImageContent(type="image", data=data, mime_type=media_type)


def resource(content: bytes, media_type: str | None) -> EmbeddedResource:
    inner: dict[str, Any] = {"uri": "file:///a", "mimeType": media_type, "blob": b64encode(content).decode()}
    return EmbeddedResource.model_validate({"type": "resource", "resource": inner})


def given(*content: ContentBlock) -> tuple[str, bytes | None]:
    done = to_done(CallToolResult(content=[*content]), Mask([]))
    return done.output, done.body


@pytest.mark.parametrize(
    "data",
    [
        IN_BASE64,
        "\r\n".join(IN_BASE64[at : at + 76] for at in range(0, len(IN_BASE64), 76)),
        f"data:image/png;base64,{IN_BASE64}",
        OF_ADDRESSES,
        OF_ADDRESSES.rstrip("="),
    ],
)
def test_a_picture_is_shown_in_whichever_form_of_base64_it_is(data: str) -> None:
    assert "-" in OF_ADDRESSES
    assert OF_ADDRESSES.endswith("=")
    assert given(picture(data)) == ("(A picture, image/png.)", PNG)


@pytest.mark.parametrize("data", ["", "no picture", "AAAA", IN_BASE64[:-40], "data:image/png;base64,"])
def test_of_what_is_no_picture_it_is_told(data: str) -> None:
    assert given(picture(data)) == ("(A picture, image/png.)\n(The picture can't be shown.)", None)


def test_of_several_pictures_it_is_told_how_many_are_not_shown() -> None:
    one, broken = picture(IN_BASE64), picture("AAAA")
    assert given(one, one)[0].endswith("\n(One of the 2 pictures is shown, 1 is not.)")
    assert given(broken, one, resource(PNG, None))[0].endswith("\n(One of the 3 pictures is shown, 2 are not.)")
    assert given(broken, broken)[0].endswith("\n(None of the 2 pictures can be shown.)")


@pytest.mark.parametrize("media_type", ["image/png", "application/octet-stream", None])
def test_a_resource_that_is_a_picture_is_shown(media_type: str | None) -> None:
    assert given(resource(PNG, media_type)) == ("(file:///a, a picture, image/png.)", PNG)


@pytest.mark.parametrize(
    "media_type", ["text/csv", "Text/Plain; charset=utf-8", "application/json", "application/ld+json"]
)
def test_a_resource_that_is_text_is_read(media_type: str) -> None:
    assert given(resource("\ufeffa,名".encode(), media_type)) == ("a,名", None)


@pytest.mark.parametrize(
    ("content", "media_type"), [(b"a\0b", "text/plain"), (b"\xff\xfe\xfd", "text/csv"), (b"%PDF", "application/pdf")]
)
def test_of_a_resource_that_is_no_text_it_is_told(content: bytes, media_type: str) -> None:
    assert given(resource(content, media_type)) == ("(file:///a, which is not text.)", None)
