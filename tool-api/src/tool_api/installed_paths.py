"""Tracebacks without the path of Python's installation on the host, which means nothing to their readers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

_BEFORE_LIBRARY = re.compile(
    r"(?:(?<![\w/.…])|(?<=\dm))/(?:[^\s\"'`:,;()<>\x1b/]{1,255}+/){0,32}(?=lib(?:64)?/python\d)"
)
"""Bounded: where a path may begin, it is followed no farther than paths of environments go."""
_OWN = ("/workspace/", "/home/")
"""Folders of the agent's own environments, whose paths it needs to see."""
_SYSTEM = frozenset({"/", "/usr", "/usr/local"})
SHORT = "…/"


def without_installed_paths(text: str, roots: Iterable[str] = (sys.prefix, sys.base_prefix)) -> str:
    """`…/lib/python3.11/json/decoder.py` in place of the whole path."""
    for root in sorted({one.rstrip("/") for one in roots} - _SYSTEM, key=len, reverse=True):
        text = text.replace(f"{root}/", SHORT) if root else text
    return _BEFORE_LIBRARY.sub(lambda found: found[0] if found[0].startswith(_OWN) else SHORT, text)
