"""Code in contexts that keep their state, over the real endpoint and real kernels."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from contracts.tools import CodeDisplay, CodePicture, CodeTable, ToolResult
from support.endpoint import RunningEndpoint, await_true, processes_with
from support.figures import TIMES, assert_median

ECHO = """
import sys
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Echo(Kernel):
    implementation = "echo"
    implementation_version = "1"
    language_info = {"name": "echo", "mimetype": "text/plain", "file_extension": ".txt"}
    banner = "Echo"

    async def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": code.upper()})
        return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}

IPKernelApp.launch_instance(argv=["-f", sys.argv[1]], kernel_class=Echo)
"""


def run(endpoint: RunningEndpoint, code: str, **arguments: object) -> tuple[ToolResult, CodeDisplay]:
    result = endpoint.call("code_run", code=code, **arguments)
    assert isinstance(result.display, CodeDisplay), result.output
    return result, result.display


def test_what_one_call_makes_the_next_one_finds_and_another_context_does_not(endpoint: RunningEndpoint) -> None:
    assert run(endpoint, "import os\nx = 41\nprint('set')\nx + 1")[0].output == "set\n42"
    assert run(endpoint, "x, os.getcwd()")[0].output == f"(41, '{endpoint.workspace}')"
    other, display = run(endpoint, "x", context="other")
    assert not other.success
    assert "NameError" in other.output
    assert "\x1b" not in other.output
    assert (display.context, display.language) == ("other", "python")
    assert "- other: python, idle\n- python: python, idle\n" in endpoint.call("code_contexts").output


@pytest.mark.thorough
def test_what_forked_processes_print_is_told(endpoint: RunningEndpoint) -> None:
    code = """
import multiprocessing
def child(): print("from the child", flush=True)
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
import time; time.sleep(0.5)
"""
    assert "from the child" in run(endpoint, code)[0].output


def test_tables_and_figures_are_results(endpoint: RunningEndpoint) -> None:
    code = """
import pandas as pd, matplotlib.pyplot as plt
plt.plot([1, 2]); plt.title("中文"); plt.show()
plt.bar(["a", "b"], [1, 2]); plt.show()
pd.DataFrame({"name": ["Ada", "Bob"], "n": [1, 2]})
"""
    result, display = run(endpoint, code, timeout_s=60)
    assert result.success
    first, second, table = display.outputs
    for figure in (first, second):
        assert isinstance(figure, CodePicture)
        assert base64.b64decode(figure.image or "").startswith(b"\x89PNG")
    assert table == CodeTable(columns=["", "name", "n"], rows=[["0", "Ada", "1"], ["1", "Bob", "2"]])
    assert "[figure 2]" in result.output
    # Fonts for Chinese are among the packages that sandboxes want.
    assert "missing from font" not in result.output
    assert "Ada" in result.output


@pytest.mark.thorough
def test_a_font_cache_that_is_built_for_long_is_no_result(endpoint: RunningEndpoint) -> None:
    code = """
import logging
logger = logging.getLogger("matplotlib.font_manager")
logger.warning("Matplotlib is building the font cache; this may take a moment.")
logger.warning("findfont: no such font")
"""
    output = run(endpoint, code)[0].output
    assert ("font cache" in output, "no such font" in output) == (False, True)


def test_files_that_code_wrote_are_told_with_its_result(endpoint: RunningEndpoint) -> None:
    code = "import pathlib\npathlib.Path('made').mkdir()\nwith open('made/plot.png', 'wb') as file: file.write(b'x')"
    ran = endpoint.call("code_run", code=code)
    assert ran.success, ran.output
    assert ran.changed_paths == ["made/plot.png"]


def test_what_is_written_is_shown_as_it_comes(endpoint: RunningEndpoint) -> None:
    frames, result = endpoint.frames(
        "code_run", code="import time\nprint('first', flush=True)\ntime.sleep(0.6)\nprint('last')"
    )
    assert len(frames) > 1
    assert "".join(frame["text"] for frame in frames) == "first\nlast\n"
    assert result.output == "first\nlast"


def test_code_over_its_time_is_interrupted_with_what_it_started_and_its_variables_stay(
    endpoint: RunningEndpoint, seconds: str
) -> None:
    run(endpoint, "kept = 1")
    started = f"import subprocess, time\nsubprocess.Popen(['setsid', 'sleep', '{seconds}'])\ntime.sleep(60)"
    result, _ = run(endpoint, started, timeout_s=1)
    assert not result.success
    assert "longer than 1 s" in result.output
    assert processes_with(f"sleep {seconds}") == []
    assert run(endpoint, "kept")[0].output == "1"


def cancelled(endpoint: RunningEndpoint, code: str, seconds: str) -> float:
    """How long the cancel of a call takes until all of it is gone."""
    call_id = endpoint.new_call()
    with endpoint.client() as client, endpoint.client() as other, ThreadPoolExecutor(1) as pool:
        body = {"call_id": call_id, "arguments": {"code": code, "context": "cancelled"}}
        answer = pool.submit(client.post, "/tools/code_run", json=body)
        await_true(lambda: len(processes_with(f"sleep {seconds}")) == 1)
        started = time.monotonic()
        assert other.post(f"/calls/{call_id}/cancel").status_code == 204
        took = time.monotonic() - started
        assert processes_with(f"sleep {seconds}") == []
        assert "cancelled" in answer.result(10).text
    return took


CHILD = "import subprocess, time\nsubprocess.Popen(['setsid', 'sleep', '{seconds}'])\n"
WILLING = f"{CHILD}while True: pass"
STUBBORN = f"{CHILD}while True:\n  try:\n    time.sleep(60)\n  except BaseException:\n    pass"


@pytest.mark.parametrize("code", [pytest.param(WILLING, marks=pytest.mark.thorough), STUBBORN])
def test_a_cancelled_call_is_gone_with_all_it_started(endpoint: RunningEndpoint, seconds: str, code: str) -> None:
    run(endpoint, "1", context="cancelled")
    cancelled(endpoint, code.format(seconds=seconds), seconds)
    assert run(endpoint, "1 + 1", context="cancelled")[0].output == "2"


@pytest.mark.quiet
@pytest.mark.parametrize(("code", "kept"), [(WILLING, "True"), (STUBBORN, "False")])
def test_it_is_gone_within_half_a_second(endpoint: RunningEndpoint, seconds: str, code: str, kept: str) -> None:
    run(endpoint, "kept = True", context="cancelled")
    assert_median([cancelled(endpoint, code.format(seconds=seconds), seconds) for _ in range(TIMES)], below_s=0.5)
    assert run(endpoint, "'kept' in dir()", context="cancelled")[0].output == kept


@pytest.mark.thorough
def test_a_kernel_that_ends_is_told_and_started_anew(endpoint: RunningEndpoint, seconds: str) -> None:
    code = f"import os, subprocess\nsubprocess.Popen(['sleep', '{seconds}'])\nprint('said', flush=True)\nos._exit(7)"
    result, _ = run(endpoint, code, context="ending")
    assert not result.success
    assert "exit code 7" in result.output
    assert processes_with(f"sleep {seconds}") == []
    assert run(endpoint, "1 + 1", context="ending")[0].output == "2"


def test_a_context_is_restarted_and_closed_whatever_runs_in_it(endpoint: RunningEndpoint) -> None:
    run(endpoint, "x = 1", context="spare")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, endpoint, "import time\nprint('on', flush=True)\ntime.sleep(60)", context="spare")
        await_true(lambda: "- spare: python, running" in endpoint.call("code_contexts").output)
        busy = endpoint.call("code_run", code="2", context="spare")
        assert not busy.success
        assert "still running" in busy.output
        assert endpoint.call("code_restart", context="spare").success
        assert not running.result(10)[0].success
    assert "NameError" in run(endpoint, "x", context="spare")[0].output
    assert endpoint.call("code_close", context="spare").success
    assert "spare" not in endpoint.call("code_contexts").output
    assert not endpoint.call("code_close", context="spare").success


@pytest.mark.thorough
def test_an_installed_kernel_is_another_language(
    endpoint: RunningEndpoint, install: Callable[[str, str], None]
) -> None:
    install("echo", ECHO)
    result, display = run(endpoint, "say", language="echo")
    assert (result.output, display.context, display.language) == ("SAY", "echo", "echo")
    wrong = endpoint.call("code_run", code="1", language="python", context="echo")
    assert "runs echo" in wrong.output
    unknown = endpoint.call("code_run", code="1", language="cobol")
    assert not unknown.success
    assert "There is: python (python3), " in unknown.output
    assert "echo (echo)" in unknown.output


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "program", "said"), [("dies", "raise SystemExit('no way')", "no way")])
def test_a_kernel_that_can_not_start_says_why(
    endpoint: RunningEndpoint, install: Callable[[str, str], None], name: str, program: str, said: str
) -> None:
    install(name, program)
    result = endpoint.call("code_run", code="1", language=name)
    assert not result.success
    assert said in result.output


@pytest.mark.thorough
def test_a_result_of_any_size_is_cut_and_the_next_code_runs(endpoint: RunningEndpoint) -> None:
    code = "class Large:\n    def __repr__(self): return 'x' * 70_000_000\nprint('first')\nLarge()"
    result, _ = run(endpoint, code)
    assert result.output.startswith("first\nxxx")
    assert "characters left out" in result.output
    assert len(result.output) < 200_000
    after, _ = run(endpoint, "1 + 1")
    assert (after.output, after.success) == ("2", True)
