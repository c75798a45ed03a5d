"""Pictures of code that a sandbox says it has run."""

from __future__ import annotations

import base64

from backend_api.agent.events import MAX_PREVIEW_CHARACTERS, BodyPart
from backend_api.sandboxes.tool_api.sandbox_tools import outcome_of
from contracts.tools import (
    MAX_CODE_PICTURES,
    MAX_CODE_PICTURES_BYTES,
    CodeDisplay,
    CodePicture,
    CodeTable,
    CodeText,
    ShellDisplay,
    ToolResult,
)
from support.photographs import jpeg, png


def picture(content: bytes, claimed: str = "image/png") -> CodePicture:
    return CodePicture(image=base64.b64encode(content).decode(), image_media_type=claimed)


def result(*outputs: CodeText | CodeTable | CodePicture, text: str = "short") -> ToolResult:
    display = CodeDisplay(language="python", context="python", outputs=[*outputs])
    return ToolResult(success=True, output=text, display=display)


def test_all_pictures_go_to_one_body_and_the_view_says_which_part_each_is() -> None:
    first, second = png(), jpeg()
    table = CodeTable(columns=["a"], rows=[["1"]])
    done = outcome_of(result(picture(first), CodeText(text="between"), table, picture(second, "text/html")))
    assert done.body == first + second
    assert done.body_parts == [
        BodyPart(offset=0, size=len(first), media_type="image/png"),
        BodyPart(offset=len(first), size=len(second), media_type="image/jpeg"),
    ]
    assert done.display is not None
    shown = done.display["outputs"]
    assert [one["type"] for one in shown] == ["picture", "text", "table", "picture"]
    assert [(one["part"], one["image"], one["image_media_type"]) for one in (shown[0], shown[3])] == [
        (0, None, "image/png"),
        (1, None, "image/jpeg"),
    ]


def test_a_long_text_stands_before_them_and_alone_as_that_of_any_tool() -> None:
    text = "né" * MAX_PREVIEW_CHARACTERS
    done = outcome_of(result(picture(png()), text=text))
    assert done.body == text.encode() + png()
    assert [part.media_type for part in done.body_parts] == ["text/plain", "image/png"]
    assert done.display is not None
    assert done.display["outputs"][0]["part"] == 1
    alone = outcome_of(result(CodeText(text=text), text=text))
    assert (alone.body, alone.body_parts) == (None, ())


def test_what_is_no_picture_has_no_part_whatever_the_sandbox_says() -> None:
    lies = [
        picture(b"<html>"),
        CodePicture(image="not base64!", image_media_type="image/png"),
        CodePicture(part=7, image_media_type="image/png"),
        picture(b"GIF89a" + bytes(60), "image/gif"),
    ]
    done = outcome_of(result(*lies))
    assert (done.body, done.body_parts) == (None, ())
    assert done.display is not None
    assert [(one["part"], one["image"]) for one in done.display["outputs"]] == [(None, None)] * 4


def test_no_more_pictures_are_kept_than_code_may_show() -> None:
    many = outcome_of(result(*[picture(png(shade=at)) for at in range(MAX_CODE_PICTURES + 5)]))
    assert len(many.body_parts) == MAX_CODE_PICTURES
    large = jpeg(size=MAX_CODE_PICTURES_BYTES // 2 + 1)
    done = outcome_of(result(picture(large), picture(large), picture(png())))
    assert done.body == large + png()
    assert done.display is not None
    assert [one["part"] for one in done.display["outputs"]] == [0, None, 1]


def test_what_was_written_is_kept_where_the_output_is_a_screen() -> None:
    raw = "\r1 %\r100 %"
    shell = ShellDisplay(command="make", shell="main", exit_code=0)
    done = outcome_of(ToolResult(success=True, output="100 %", raw_output=raw, display=shell))
    assert (done.output, done.body, done.body_media_type) == ("100 %", raw.encode(), "text/plain")

    with_picture = result(picture(png()), text="100 %").model_copy(update={"raw_output": raw})
    done = outcome_of(with_picture)
    assert done.output == "100 %"
    assert done.body == raw.encode() + png()
    assert [part.media_type for part in done.body_parts] == ["text/plain", "image/png"]

    alone = result(CodeText(text="100 %"), text="100 %").model_copy(update={"raw_output": raw})
    assert outcome_of(alone).body == raw.encode()
