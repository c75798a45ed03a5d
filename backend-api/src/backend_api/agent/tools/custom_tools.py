"""Tools of a deployment's own: each made by `custom_tool`, in a Python file of a folder or at an entry point of an
installed package."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from backend_api.agent.tool import Done, Tool, ToolCall, Waits
from backend_api.agent.tool_rules import FOREIGN_PREFIX
from backend_api.agent.tools.local import local_tool

ENTRY_POINTS = "backend_api.tools"
"""The group of entry points. An entry point is a `Tool` or a list of them."""
EXPORTED = "TOOLS"
"""The name of the list in a file."""
MAX_TOOLS = 100
"""The most tools, as each is offered to the model at every opening."""
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
"""A name that all providers accept."""

custom_tool = partial(local_tool, effect="writes")
"""A custom tool needs an approval if the session wants one, and is not in plan mode, unless its author sets `reads`."""


class ToolFileError(ValueError):
    """A tool that can't be used; the message names its file or entry point and the reason."""


def read_custom_tools(folder: Path | None, taken: Iterable[str]) -> list[Tool]:
    """The tools of the folder by the names of its files, then those of installed packages. Their code runs in this
    process, as part of the deployment. `taken` are the names of the product's own tools. Raises `ToolFileError`."""
    where_of = dict.fromkeys(taken, "the product")
    found: list[Tool] = []
    for where, exported in _find_exports(folder):
        for tool in _tools(exported, where):
            name = tool.spec.name
            if name in where_of:
                raise ToolFileError(f"{where}: a tool named {name} is there already, from {where_of[name]}")
            where_of[name] = where
            found.append(replace(tool, run_call=_checked(tool)))
    if len(found) > MAX_TOOLS:
        raise ToolFileError(f"{len(found)} tools of the deployment's own are more than {MAX_TOOLS}")
    return found


def _checked(tool: Tool) -> Callable[[ToolCall], Awaitable[Done | Waits]]:
    """Wrap a tool: a return value that is no result is the tool's fault, reported to the model, and the run goes on."""

    async def run_call(call: ToolCall) -> Done | Waits:
        # The author may not use a type checker.
        outcome: Any = await tool.run_call(call)
        if not isinstance(outcome, Waits | Done) or not isinstance(getattr(outcome, "output", ""), str):
            raise TypeError(f"{tool.spec.name} has to answer Done(success=..., output=<a text>), not {outcome!r:.200}")
        return outcome

    return run_call


def _find_exports(folder: Path | None) -> Iterator[tuple[str, object]]:
    for path in _tool_files(folder) if folder is not None else ():
        yield str(path), getattr(_loaded(path), EXPORTED, None)
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda one: one.name):
        yield f"entry point {point.name} ({point.value})", _load_entry_point(point)


def _tools(exported: object, where: str) -> Sequence[Tool]:
    tools = [exported] if isinstance(exported, Tool) else exported
    if not isinstance(tools, list | tuple) or not tools:
        raise ToolFileError(f"{where}: there is no {EXPORTED}, a list of what custom_tool makes")
    for tool in cast("Sequence[object]", tools):
        if not isinstance(tool, Tool):
            raise ToolFileError(f"{where}: {type(tool).__name__} is no tool. Make it by custom_tool")
        name = tool.spec.name
        if not _NAME.fullmatch(name) or name.startswith(FOREIGN_PREFIX):
            raise ToolFileError(
                f"{where}: a tool can't be named {name[:80]!r}. A name is a letter, then at most 63 letters, digits, _ "
                f"or -, and does not begin with {FOREIGN_PREFIX}"
            )
        if tool.spec.needs_sandbox:
            raise ToolFileError(f"{where}: {name} runs in the gateway, where there is no computer: needs_sandbox=False")
    return cast("Sequence[Tool]", tools)


def _tool_files(folder: Path) -> list[Path]:
    """Files and packages; names that begin with `_` or `.` are skipped, and may be imported by the others."""
    try:
        entries = sorted(path for path in folder.iterdir() if path.name[0] not in "_.")
    except OSError as error:
        raise ToolFileError(f"TOOLS_DIR={folder} can't be read: {error.strerror}") from error
    packages = (path / "__init__.py" for path in entries if path.is_dir())
    return [*(path for path in entries if path.suffix == ".py"), *(path for path in packages if path.is_file())]


def _loaded(path: Path) -> ModuleType:
    is_package = path.name == "__init__.py"
    name = f"custom_tools_{(path.parent if is_package else path).stem}"
    locations = [str(path.parent)] if is_package else None
    spec = spec_from_file_location(name, path, submodule_search_locations=locations)
    if spec is None or spec.loader is None:
        raise ToolFileError(f"{path}: it is no Python file")
    module = module_from_spec(spec)
    # Dataclasses, models and relative imports look up their module.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ToolFileError(f"{path}: it can't be imported: {_text_of(error)}") from error
    return module


def _load_entry_point(point: EntryPoint) -> object:
    try:
        return point.load()
    except Exception as error:
        raise ToolFileError(f"entry point {point.name} ({point.value}) can't be imported: {_text_of(error)}") from error


def _text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]
