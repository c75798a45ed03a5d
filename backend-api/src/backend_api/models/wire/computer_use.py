"""The desktop tools that the computer tools of all providers stand for."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.tool import ToolSpec

SCREENSHOT, MOUSE, KEYBOARD = "desktop_screenshot", "desktop_mouse", "desktop_keyboard"
DESKTOP_TOOLS = frozenset({SCREENSHOT, MOUSE, KEYBOARD})
DISPLAY_WIDTH, DISPLAY_HEIGHT = 1280, 800
"""Pixels of a sandbox's desktop, for forms that need them before a screenshot is taken. A person may choose another
size; coordinates are those of the picture a model sees, whatever its size."""


def offers_all(tools: Sequence[ToolSpec]) -> bool:
    """Whether all tools that a computer tool needs are on offer. Most can't be declared with fewer."""
    return {tool.name for tool in tools} >= DESKTOP_TOOLS
