"""Arguments of the browser tools."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tool_api.tools.browser.dialogs import DialogAnswer
from tool_api.tools.tool import Arguments

Index = Annotated[int, Field(ge=0, le=9999, description="Number of the element in the latest view.")]
Coordinate = Annotated[int, Field(ge=0, le=10_000)]


class DialogArguments(Arguments):
    """Answers to dialogs that the action opens."""

    dialog: Literal["accept", "dismiss"] | None = Field(
        default=None, description="Answer to a dialog it opens; confirm and prompt are dismissed by default."
    )
    prompt_text: str | None = Field(default=None, max_length=2000, description="Text for a prompt.")

    @property
    def answer(self) -> DialogAnswer:
        return DialogAnswer(accept=self.dialog == "accept" if self.dialog else None, text=self.prompt_text)


class BrowserView(Arguments):
    """Look at the current page."""


class BrowserScreenshot(Arguments):
    """Take a picture of the current page."""


class BrowserBack(DialogArguments):
    """Go back in the tab's history."""


class BrowserNavigate(DialogArguments):
    """Open an address."""

    url: str = Field(min_length=1, max_length=8192, description="Address to open; https is assumed without a scheme.")


class Target(Arguments):
    """An element, or a point of the page."""

    index: Index | None = None
    x: Coordinate | None = Field(default=None, description="Pixels from the left of the screenshot.")
    y: Coordinate | None = Field(default=None, description="Pixels from the top of the screenshot.")

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        point = (self.x is not None, self.y is not None)
        if (self.index is None) != all(point) or any(point) != all(point):
            raise ValueError("give either index, or x and y")
        return self


class BrowserClick(Target, DialogArguments):
    """Click an element, or a point of the page."""

    button: Literal["left", "right", "middle"] = "left"
    double: bool = False


class BrowserMove(Target):
    """Move the mouse to an element, or a point of the page."""


class BrowserSelect(DialogArguments):
    """Choose options of a list."""

    index: Index
    options: list[Annotated[str, Field(max_length=1000)]] = Field(
        min_length=1,
        max_length=50,
        description="Texts or values of the options; more than one where the list allows it.",
    )


class BrowserType(DialogArguments):
    """Type into an element, or choose an option of a list."""

    text: str = Field(max_length=20_000)
    index: Index | None = Field(default=None, description="Element to type into; without it, what has the focus.")
    clear: bool = Field(default=True, description="Replace what is there.")
    submit: bool = Field(default=False, description="Press Enter afterwards.")


class BrowserKey(DialogArguments):
    """Press a key, with modifiers if wanted."""

    key: str = Field(
        min_length=1, max_length=40, description="Such as Enter, Tab, Escape, ArrowDown, PageDown, a, Control+A."
    )


class BrowserScroll(Arguments):
    """Scroll the page."""

    direction: Literal["up", "down", "left", "right"] = "down"
    pages: float = Field(default=0.8, gt=0, le=50, description="How many screens.")


TabNumber = Annotated[int, Field(ge=1, le=10**9, description="Number of the tab, as browser_tabs tells it.")]


class BrowserTabs(Arguments):
    """List the tabs."""


class BrowserTabOpen(Arguments):
    """Open another tab."""

    url: str = Field(default="about:blank", min_length=1, max_length=8192, description="Address to open in it.")


class BrowserTabSwitch(Arguments):
    """Show another tab."""

    tab: TabNumber


class BrowserTabClose(Arguments):
    """Close a tab."""

    tab: TabNumber


class BrowserUpload(Arguments):
    """Give files of the workspace to a page."""

    index: Index
    paths: list[Annotated[str, Field(min_length=1, max_length=4096)]] = Field(
        min_length=1, max_length=20, description="Files, relative to the workspace."
    )


class BrowserDownload(Arguments):
    """Download a file into the workspace."""

    url: str | None = Field(default=None, min_length=1, max_length=8192, description="Address of the file.")
    index: Index | None = Field(default=None, description="Link or button of the latest view that downloads it.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.url is None) == (self.index is None):
            raise ValueError("give either url or index")
        return self


class BrowserScript(DialogArguments):
    """Run JavaScript in the page."""

    script: str = Field(
        min_length=1,
        max_length=50_000,
        description="An expression or statements; the last value is the result. await works.",
    )
    timeout_s: int = Field(default=10, ge=1, le=40)


class BrowserConsole(Arguments):
    """Read the console of the page."""

    level: Literal["all", "warnings", "errors"] = "all"
    limit: int = Field(default=50, ge=1, le=200, description="How many of the newest messages.")


class BrowserRestart(Arguments):
    """Start the browser anew."""
