"""Definitions and uses in source code, by the tools of a real endpoint."""

from __future__ import annotations

import json
import time
from pathlib import Path

import psutil
import pytest

from contracts.tools import NavigationDisplay
from support.endpoint import RunningEndpoint, await_true, processes_with

SOON_S = 0.5
SERVER = '''import os


class Server:
    """Serves."""

    port = 80

    @property
    def name(self) -> str:
        return "server"

    def start(self) -> None:
        os.getpid()


def main() -> None:
    Server().start()  # start
'''
PAGE = "import { start } from './lib'\nexport function page() {\n  return start('start')\n}\n"


@pytest.fixture
def project(endpoint: RunningEndpoint, request: pytest.FixtureRequest) -> str:
    name = f"project_{abs(hash(request.node.name))}"
    folder = endpoint.workspace / name
    (folder / "web").mkdir(parents=True)
    (folder / "server.py").write_text(SERVER)
    (folder / "web/page.ts").write_text(PAGE)
    (folder / "built").mkdir()
    (folder / "built/out.js").write_text("function start() {}\n")
    (folder / ".gitignore").write_text("built/\n")
    (folder / "notes.txt").write_text("start\n")
    return name


def test_the_definitions_of_a_file_are_listed_with_their_lines(endpoint: RunningEndpoint, project: str) -> None:
    result = endpoint.call("code_symbols", path=f"{project}/server.py")
    file = f"{project}/server.py"
    assert result.output.splitlines() == [
        f"{file}:4-14 class Server",
        f"{file}:7 field Server.port",
        f"{file}:9-11 method Server.name",
        f"{file}:13-14 method Server.start",
        f"{file}:17-18 function main",
    ]
    display = result.display
    assert isinstance(display, NavigationDisplay)
    assert (display.path, display.subject, display.is_cut) == (file, file, False)
    assert [(place.line, place.kind, place.container, place.name) for place in display.places][2] == (
        *(9, "method", "Server"),
        "name",
    )


def test_a_folder_is_looked_through_without_what_git_ignores(endpoint: RunningEndpoint, project: str) -> None:
    result = endpoint.call("code_symbols", path=project)
    assert f"{project}/web/page.ts:2-4 function page" in result.output
    assert "built/" not in result.output
    assert "notes.txt" not in result.output


def test_definitions_are_found_by_a_part_of_their_name_the_nearest_first(
    endpoint: RunningEndpoint, project: str
) -> None:
    (endpoint.workspace / project / "a.py").write_text("def restart_all(): ...\ndef starter(): ...\n")
    result = endpoint.call("code_symbols", path=project, query="START")
    assert [line.rpartition(" ")[2] for line in result.output.splitlines()] == [
        "Server.start",
        "starter",
        "restart_all",
    ]
    nothing = endpoint.call("code_symbols", path=project, query="nowhere")
    assert nothing.success
    assert nothing.output == "[no definition whose name holds nowhere]"


def test_a_definition_comes_with_its_code(endpoint: RunningEndpoint, project: str) -> None:
    file = f"{project}/server.py"
    result = endpoint.call("code_definition", symbol="Server.name", path=project)
    assert result.output.splitlines() == [
        f"{file}:9-11 method Server.name",
        "    @property",
        "    def name(self) -> str:",
        '        return "server"',
    ]
    assert (
        "[start is not defined here]" in endpoint.call("code_definition", symbol="start", path=f"{project}/web").output
    )
    assert "[Client.name is not" in endpoint.call("code_definition", symbol="Client.name", path=project).output


def test_a_long_definition_says_where_to_read_on(endpoint: RunningEndpoint, project: str) -> None:
    (endpoint.workspace / project / "long.py").write_text("def long():\n" + "    x()\n" * 200)
    result = endpoint.call("code_definition", symbol="long()", path=project)
    assert f"{project}/long.py:1-201 function long" in result.output
    assert result.output.endswith("[cut; read on by file_read from line 81]")
    read = endpoint.call("file_read", path=f"{project}/long.py", start_line=200, end_line=201)
    assert read.output.count("x()") == 2


@pytest.mark.parametrize(("last", "shown"), [("    y = 1  # " + "z" * 90, 49), ("    y = '" + "汉" * 900 + "'", 49)])
def test_of_a_definition_of_long_lines_each_is_told_whole_or_where_to_read_it(
    endpoint: RunningEndpoint, project: str, last: str, shown: int
) -> None:
    source = "def wide():\n" + ("    x()  # " + "w" * 70 + "\n") * 48 + f"{last}\n" * 3
    (endpoint.workspace / project / "wide.py").write_text(source)
    told, *code, cut = endpoint.call("code_definition", symbol="wide", path=project).output.splitlines()
    assert told == f"{project}/wide.py:1-52 function wide"
    assert code == source.splitlines()[: len(code)]
    assert len(code) in (shown, shown + 1)
    assert cut == f"[cut; read on by file_read from line {len(code) + 1}]"


def test_uses_are_told_with_what_they_are_inside_of(endpoint: RunningEndpoint, project: str) -> None:
    result = endpoint.call("code_references", symbol="start", path=project)
    assert result.output.splitlines() == [
        f"{project}/server.py:13 definition in Server: def start(self) -> None:",
        f"{project}/server.py:18 use in main: Server().start()  # start",
        f"{project}/web/page.ts:1 import: import {{ start }} from './lib'",
        f"{project}/web/page.ts:3 use in page: return start('start')",
    ]


def test_what_can_not_be_answered_is_said(endpoint: RunningEndpoint, project: str) -> None:
    unknown = endpoint.call("code_symbols", path=f"{project}/notes.txt")
    assert not unknown.success
    assert "is not source code in a supported language, which are: python, " in unknown.output
    for path, words in (("missing", "No such file"), ("/etc", "outside of the workspace"), ("../..", "outside")):
        refused = endpoint.call("code_symbols", path=path)
        assert not refused.success
        assert words in refused.output
    nameless = endpoint.call("code_references", symbol="()", path=project)
    assert not nameless.success
    assert "Give the name of one function" in nameless.output


def test_texts_in_other_encodings_are_read(endpoint: RunningEndpoint, project: str) -> None:
    folder = endpoint.workspace / project
    (folder / "gbk.py").write_bytes("# 中文\ndef 函数_a(): ...\ndef gbk(): ...\n".encode("gb18030"))
    (folder / "wide.cs").write_bytes("class 宽 { void Wide() {} }".encode("utf-16"))
    (folder / "utf8.py").write_text("def 统计(): ...\n统计()\n")
    (folder / "binary.py").write_bytes(b"def binary(): ...\n\0\0\0")
    listed = endpoint.call("code_symbols", path=project).output
    assert "function gbk" in listed
    assert "method 宽.Wide" in listed
    assert "binary" not in listed
    assert "utf8.py:2 use: 统计()" in endpoint.call("code_references", symbol="统计", path=project).output


def test_instructions_of_the_folder_come_with_it(endpoint: RunningEndpoint, project: str) -> None:
    (endpoint.workspace / project / "AGENTS.md").write_text("Use tabs.")
    result = endpoint.call("code_symbols", path=f"{project}/server.py")
    assert [one.text for one in result.instructions] == ["Use tabs."]


def test_many_definitions_are_cut_and_those_of_the_very_name_are_kept(endpoint: RunningEndpoint, project: str) -> None:
    folder = endpoint.workspace / project / "many"
    folder.mkdir()
    for number in range(4):
        (folder / f"m{number}.py").write_text("".join(f"def go_{number}_{one}(): ...\n" for one in range(100)))
    (folder / "z.py").write_text("def go(): ...\n")
    listed = endpoint.call("code_symbols", path=f"{project}/many")
    assert "[101 more left out; name a smaller folder]" in listed.output
    assert isinstance(listed.display, NavigationDisplay)
    assert listed.display.is_cut
    found = endpoint.call("code_symbols", path=f"{project}/many", query="go")
    assert found.output.startswith(f"{project}/many/z.py:1 function go\n")
    assert found.output.count("function go") == 300


def programs(endpoint: RunningEndpoint) -> list[int]:
    """Those that look through source code for this endpoint."""
    below = psutil.Process(endpoint.process.pid).children(recursive=True)
    return [one.pid for one in below if one.pid in processes_with("tool_api.navigation.program")]


def test_a_cancelled_call_ends_at_once(endpoint: RunningEndpoint, project: str) -> None:
    folder: Path = endpoint.workspace / project / "slow"
    folder.mkdir()
    for number in range(30):
        (folder / f"a{number}.cpp").write_text("a<b(c*" * 100_000)
    call = endpoint.new_call()
    with endpoint.client() as client, endpoint.client() as other:
        body = {"call_id": call, "arguments": {"path": f"{project}/slow"}}
        with client.stream("POST", "/tools/code_symbols", json=body) as answer:
            await_true(lambda: programs(endpoint))
            started = time.monotonic()
            assert other.post(f"/calls/{call}/cancel").status_code == 204
            assert time.monotonic() - started < SOON_S
            assert not programs(endpoint)
            said = json.loads(list(answer.iter_lines())[-1])
    assert "cancelled" in said["result"]["output"]
