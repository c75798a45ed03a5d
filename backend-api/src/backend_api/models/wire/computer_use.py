"""What the computer tools of all providers stand for here: tools of the desktop."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.tool import ToolSpec

SCREENSHOT, MOUSE, KEYBOARD = "desktop_screenshot", "desktop_mouse", "desktop_keyboard"
DESKTOP_TOOLS = frozenset({SCREENSHOT, MOUSE, KEYBOARD})
DISPLAY_WIDTH, DISPLAY_HEIGHT = 1280, 800
"""Pixels of a sandbox's desktop, for forms that are told them before a picture is taken. A person may choose another
size; points are those of the picture a model sees, whichever that is."""


def offers_all(tools: Sequence[ToolSpec]) -> bool:
    """Whether all that such a tool does may be asked for. Most can't be declared with less."""
    return {tool.name for tool in tools} >= DESKTOP_TOOLS
