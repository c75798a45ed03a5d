"""Arguments of the desktop tools. Coordinates are pixels of the latest screenshot."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from tool_api.tools.tool import Arguments

MAX_TEXT = 5_000
Coordinate = Annotated[int, Field(ge=0, le=10_000)]
Point = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]
Seconds = Annotated[float, Field(ge=0, le=30, allow_inf_nan=False)]
Keys = Annotated[str, Field(min_length=1, max_length=100)]
MouseAction = Literal["move", "click", "double_click", "triple_click", "press", "release", "drag", "scroll"]
Button = Literal["left", "middle", "right", "back", "forward"]
Direction = Literal["up", "down", "left", "right"]


class DesktopScreenshot(Arguments):
    """Look at the desktop."""

    region: list[Coordinate] | None = Field(
        default=None,
        min_length=4,
        max_length=4,
        description="Left, top, right and bottom of a part to look at in full detail; without it, the whole desktop.",
    )
    wait_s: Seconds = Field(default=0, description="Seconds to wait before, while something loads.")

    @model_validator(mode="after")
    def _has_area(self) -> Self:
        if self.region is not None and not (self.region[0] < self.region[2] and self.region[1] < self.region[3]):
            raise ValueError("the region's right must be over its left, and its bottom over its top")
        return self


class DesktopMouse(Arguments):
    """Use the mouse."""

    action: MouseAction
    x: Coordinate | None = Field(default=None, description="Pixels from the left of the latest screenshot.")
    y: Coordinate | None = Field(
        default=None, description="Pixels from its top. Without x and y: where the pointer is."
    )
    button: Button = "left"
    path: list[Point] | None = Field(
        default=None,
        min_length=1,
        max_length=50,
        description="For drag: the points [x, y] to go through with the button held, the last of which is the end.",
    )
    direction: Direction = Field(default="down", description="For scroll.")
    amount: int = Field(default=3, ge=1, le=50, description="For scroll: notches of the wheel.")
    keys: Keys | None = Field(default=None, description="Keys held meanwhile, such as ctrl or ctrl+shift.")

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if (self.x is None) != (self.y is None):
            raise ValueError("give both x and y, or neither")
        if self.action == "move" and self.x is None:
            raise ValueError("move needs x and y")
        if (self.action == "drag") != (self.path is not None):
            raise ValueError("drag needs a path, and nothing else takes one")
        return self


class DesktopKeyboard(Arguments):
    """Use the keyboard."""

    action: Literal["type", "press", "hold"]
    text: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT, description="For type, in any script.")
    keys: Keys | None = Field(
        default=None, description="For press and hold, such as Return, Page_Down, ctrl+s or alt+Tab."
    )
    repeat: int = Field(default=1, ge=1, le=100, description="For press: how many times.")
    seconds: Seconds = Field(default=1, description="For hold.")

    @field_validator("text")
    @classmethod
    def _can_be_typed(cls, text: str | None) -> str | None:
        if text is None:
            return None
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        for character in text:
            number = ord(character)
            if (number < 0x20 and character not in "\n\t") or 0x7F <= number < 0xA0 or 0xD800 <= number < 0xE000:
                raise ValueError(f"the character U+{number:04X} can't be typed; use press for keys")
        return text

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if (self.action == "type") != (self.text is not None):
            raise ValueError("type needs text, and nothing else takes it")
        if (self.action == "type") == (self.keys is not None):
            raise ValueError("press and hold need keys, and type takes none")
        return self


class DesktopWindows(Arguments):
    """List the windows."""


class DesktopWindow(Arguments):
    """Use a window as a whole."""

    action: Literal["focus", "close"]
    window: int = Field(ge=1, le=2**32 - 1, description="Its number, as desktop_windows tells it.")
