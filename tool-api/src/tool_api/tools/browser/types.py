"""Arguments of the browser tools."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tool_api.tools.tool import Arguments

Index = Annotated[int, Field(ge=0, le=9999, description="Number of the element in the latest view.")]
Coordinate = Annotated[int, Field(ge=0, le=10_000)]


class BrowserView(Arguments):
    """Look at the current page."""


class BrowserScreenshot(Arguments):
    """Take a picture of the current page."""


class BrowserBack(Arguments):
    """Go back in the tab's history."""


class BrowserNavigate(Arguments):
    """Open an address."""

    url: str = Field(min_length=1, max_length=8192, description="Address to open; https is assumed without a scheme.")


class BrowserClick(Arguments):
    """Click an element, or a point of the page."""

    index: Index | None = None
    x: Coordinate | None = Field(default=None, description="Pixels from the left of the screenshot.")
    y: Coordinate | None = Field(default=None, description="Pixels from the top of the screenshot.")
    button: Literal["left", "right", "middle"] = "left"
    double: bool = False

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        point = (self.x is not None, self.y is not None)
        if (self.index is None) != all(point) or any(point) != all(point):
            raise ValueError("give either index, or x and y")
        return self


class BrowserType(Arguments):
    """Type into an element, or choose an option of a list."""

    text: str = Field(max_length=20_000)
    index: Index | None = Field(default=None, description="Element to type into; without it, what has the focus.")
    clear: bool = Field(default=True, description="Replace what is there.")
    submit: bool = Field(default=False, description="Press Enter afterwards.")


class BrowserKey(Arguments):
    """Press a key, with modifiers if wanted."""

    key: str = Field(
        min_length=1, max_length=40, description="Such as Enter, Tab, Escape, ArrowDown, PageDown, a, Control+A."
    )


class BrowserScroll(Arguments):
    """Scroll the page."""

    direction: Literal["up", "down", "left", "right"] = "down"
    pages: float = Field(default=0.8, gt=0, le=50, description="How many screens.")
