"""The scenes of the demo model, read from `scenes.yaml`, which documents each part."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Words(_Strict):
    """A text in both languages."""

    en: str
    zh: str


Text = str | Words
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader in C if available, which is several times as fast."""


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


class FoundField(_Strict):
    strip: str | None = None
    otherwise: Text = ""


class Call(_Strict):
    tool: str
    arguments: dict[str, Any] = {}
    for_each: str | None = None
    optional: bool = False
    leave_out_empty: bool = False


class Line(_Strict):
    done: Text
    failed: Text


class Step(_Strict):
    say: Text = ""
    thought: Text = ""
    calls: tuple[Call, ...] = ()
    if_failed: Literal["stop", "go on", "tell", "tell and end"] | Words = "stop"
    needs: str | None = None
    lines: dict[str, Line] = {}
    after: tuple[str, ...] = ()
    without: str | None = None


class Scene(_Strict):
    name: str
    begins: tuple[Annotated[re.Pattern[str], BeforeValidator(_compile)], ...] = ()
    title: Words | None = None
    fields: dict[str, FoundField] = {}
    texts: dict[str, Text] = {}
    function: str | None = None
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]


class Script(_Strict):
    texts: dict[str, Text]
    scenes: tuple[Scene, ...]

    def find(self, message: str) -> tuple[Scene, re.Match[str]] | None:
        """The first scene whose pattern matches, with the match."""
        found = ((scene, pattern.search(message)) for scene in self.scenes for pattern in scene.begins)
        return next(((scene, match) for scene, match in found if match), None)

    def scene(self, name: str) -> Scene:
        return next(scene for scene in self.scenes if scene.name == name)


@cache
def read_script() -> Script:
    text = files("backend_api.models.demo").joinpath("scenes.yaml").read_text(encoding="utf-8")
    found: Any = yaml.load(text, Loader=_LOADER)
    return Script.model_validate(found)
