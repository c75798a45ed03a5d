"""Tools that a deployment brings: read at the start, or refused with the file and the reason."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from backend_api.agent.questions import Questions
from backend_api.agent.tool import Done, Tool, ToolCall, Waits
from backend_api.agent.tools.custom_tools import MAX_TOOLS, ToolFileError, read_custom_tools
from backend_api.agent.tools.local import LocalTools
from backend_api.main.settings import SettingsError
from support.planned import local_plan
from support.scripted import call_tool

ROOT = Path(__file__).parents[4]
HEAD = """
from backend_api.agent.tool import Done
from backend_api.agent.tools.custom_tools import custom_tool
from backend_api.agent.tools.local import Arguments


async def answer(call, arguments):
    return Done(success=True, output=call.name)


def tool(name, run_call=answer, **more):
    return custom_tool(
        name=name, description="Ours.", arguments=Arguments, phrase="Working", run_call=run_call, **more
    )


"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + text)
    return path


def names(tools: list[Tool]) -> list[str]:
    return [tool.spec.name for tool in tools]


async def result(tools: list[Tool], name: str, **arguments: Any) -> Done:
    return await call_tool(LocalTools(tools), name, arguments)


async def test_the_file_in_the_documentation_is_a_tool(tmp_path: Path) -> None:
    documented = (ROOT / "docs/adding-things.md").read_text()
    source = re.search(r"## A tool of a deployment's own.*?```python\n(.*?)```", documented, re.DOTALL)
    assert source is not None
    (tmp_path / "orders.py").write_text(source.group(1))
    tools = read_custom_tools(tmp_path, ["think"])
    assert (names(tools), tools[0].spec.effect, tools[0].spec.needs_sandbox) == (["order_status"], "reads", False)
    assert (await result(tools, "order_status", number=1)).output == "shipped"
    assert "There is no order 3" in (await result(tools, "order_status", number=3)).output
    wrong = await result(tools, "order_status", number=0, more="x")
    assert not wrong.success
    assert wrong.output.startswith("Nothing was run: the arguments do not fit order_status.\n- number: ")
    assert "- more: " in wrong.output


async def test_the_file_in_the_documentation_that_waits_for_a_person_asks(tmp_path: Path) -> None:
    documented = (ROOT / "docs/adding-things.md").read_text()
    source = re.search(r"## A tool that waits for a person.*?```python\n(.*?)```", documented, re.DOTALL)
    assert source is not None
    (tmp_path / "release.py").write_text(source.group(1))
    (tool,) = read_custom_tools(tmp_path, [])
    assert (tool.spec.asks_person, tool.spec.effect) == (True, "reads")
    given = {"version": "2.1"}
    call = ToolCall(session_id="s", user_id="u", run_id="r", call_id="c1", name=tool.spec.name, arguments=given)
    outcome = await tool.run_call(call)
    assert isinstance(outcome, Waits)
    (wait,) = outcome.waits
    assert wait.id == "question_c1"
    assert isinstance(wait.subject, Questions)
    assert wait.subject.questions[0].text == "Release version 2.1 now?"


def test_files_and_packages_are_read_by_name_and_others_left_alone(tmp_path: Path) -> None:
    written(tmp_path, "b.py", "TOOLS = [tool('second'), tool('third')]")
    written(tmp_path, "a/__init__.py", "from .inner import NAME\nTOOLS = tool(NAME)")
    written(tmp_path, "a/inner.py", "NAME = 'packaged'")
    written(tmp_path, "_shared.py", "raise RuntimeError")
    written(tmp_path, ".hidden.py", "raise RuntimeError")
    (tmp_path / "notes.txt").write_text("none")
    (tmp_path / "data").mkdir()
    assert names(read_custom_tools(tmp_path, [])) == ["second", "third", "packaged"]
    assert read_custom_tools(None, []) == []


def test_what_says_nothing_of_its_effect_writes(tmp_path: Path) -> None:
    written(tmp_path, "a.py", "TOOLS = [tool('one')]")
    assert not read_custom_tools(tmp_path, [])[0].spec.read_only


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("TOOLS = [", r"it can't be imported: SyntaxError"),
        ("raise KeyError('no key')", r"it can't be imported: KeyError: 'no key'"),
        ("", r"there is no TOOLS, a list of what custom_tool makes"),
        ("TOOLS = []", r"there is no TOOLS"),
        ("TOOLS = [answer]", r"function is no tool\. Make it by custom_tool"),
        ("TOOLS = [tool('think')]", r"a tool named think is there already, from the product"),
        ("TOOLS = [tool('one'), tool('one')]", r"a tool named one is there already, from .*own\.py"),
        ("TOOLS = [tool('a b')]", r"can't be named 'a b'"),
        ("TOOLS = [tool('a' * 65)]", r"can't be named"),
        ("TOOLS = [tool('mcp__a__b')]", r"does not begin with mcp__"),
        ("TOOLS = [tool('one', needs_sandbox=True)]", r"one runs in the gateway, where there is no computer"),
        (f"TOOLS = [tool(f't{{n}}') for n in range({MAX_TOOLS + 1})]", r"101 tools .* are more than 100"),
    ],
)
def test_what_could_not_be_used_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = written(tmp_path, "own.py", text)
    with pytest.raises(ToolFileError, match=reason) as refused:
        read_custom_tools(tmp_path, ["think"])
    assert str(path) in str(refused.value) or "are more than" in str(refused.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolFileError, match=r"TOOLS_DIR=.*gone can't be read: No such file"):
        read_custom_tools(tmp_path / "gone", [])


@pytest.mark.parametrize("said", ["'a text'", "None", "Done(success=True, output=None)"])
async def test_what_is_no_result_is_a_fault_of_the_tool(tmp_path: Path, said: str) -> None:
    written(tmp_path, "own.py", f"async def odd(call, arguments):\n    return {said}\n\nTOOLS = [tool('odd', odd)]")
    with pytest.raises(TypeError, match=r"odd has to answer Done"):
        await result(read_custom_tools(tmp_path, []), "odd")


def _install(folder: Path, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the metadata of an installed package says it."""
    installed = folder / "ours-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(f"[backend_api.tools]\nours = {value}\n")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


def test_an_installed_package_offers_its_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "installed_orders.py", "TOOLS = [tool('installed')]")
    _install(tmp_path, "installed_orders:TOOLS", monkeypatch)
    assert names(read_custom_tools(None, [])) == ["installed"]
    sys.modules.pop("installed_orders", None)


def test_one_that_is_gone_is_refused_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path, "gone_orders:TOOLS", monkeypatch)
    with pytest.raises(
        ToolFileError, match=r"entry point ours \(gone_orders:TOOLS\) can't be imported: ModuleNotFound"
    ):
        read_custom_tools(None, [])


def test_the_start_is_refused_before_anything_is_opened_and_presets_may_name_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tools, presets = tmp_path / "tools", tmp_path / "presets"
    presets.mkdir()
    (presets / "own.md").write_text('+++\nlabel = "Own"\ndescription = "Ours."\ntools = ["order_*"]\n+++\nDo.')
    folders = {"PROMPTS_DIR": str(presets), "TOOLS_DIR": str(tools)}
    written(tools, "own.py", "TOOLS = [tool('order_status')]")
    assert names(cast("list[Tool]", local_plan(monkeypatch, tmp_path, **folders).made.ports["custom_tools"])) == [
        "order_status"
    ]
    written(tools, "own.py", "TOOLS = [tool('think')]")
    with pytest.raises(SettingsError, match=r"own\.py: a tool named think is there already"):
        local_plan(monkeypatch, tmp_path, **folders)
