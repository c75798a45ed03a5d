"""Shells over the real endpoint, with real processes."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contracts.tools import ShellDisplay
from support.endpoint import RunningEndpoint, processes_with
from support.figures import assert_median


def test_folder_variables_and_functions_stay_for_the_next_command(endpoint: RunningEndpoint) -> None:
    endpoint.call(
        "shell_exec",
        command=f"cd {endpoint.workspace}; mkdir -p stay && cd stay; export A=1; B=two; f() {{ echo from-f; }}",
        shell="keep",
    )
    result = endpoint.call("shell_exec", command='echo "$A $B"; f; pwd', shell="keep")
    assert result.output == f"1 two\nfrom-f\n{endpoint.workspace}/stay\n"


def test_two_shells_do_not_share_their_state(endpoint: RunningEndpoint) -> None:
    endpoint.call("shell_exec", command="X=1", shell="keep")
    assert endpoint.call("shell_exec", command='echo "[$X]"', shell="other").output == "[]\n"


def test_a_failing_command_tells_its_exit_code(endpoint: RunningEndpoint) -> None:
    result = endpoint.call("shell_exec", command="echo before; exit_with() { return 7; }; exit_with")
    assert not result.success
    assert isinstance(result.display, ShellDisplay)
    assert result.display.exit_code == 7
    assert result.output == "before\n[exit code 7]"


def test_the_last_exit_code_is_kept_between_commands(endpoint: RunningEndpoint) -> None:
    endpoint.call("shell_exec", command="(exit 9)", shell="keep")
    assert endpoint.call("shell_exec", command="echo $?", shell="keep").output == "9\n"


def test_a_syntax_error_leaves_a_usable_shell(endpoint: RunningEndpoint) -> None:
    assert not endpoint.call("shell_exec", command="if then", shell="keep").success
    assert endpoint.call("shell_exec", command="echo well", shell="keep").output == "well\n"


@pytest.mark.thorough
def test_leaving_the_shell_starts_it_anew_in_the_same_folder(endpoint: RunningEndpoint) -> None:
    endpoint.call("shell_exec", command="mkdir -p exited && cd exited && export KEPT=yes", shell="exits")
    left = endpoint.call("shell_exec", command="echo bye; exit 3", shell="exits")
    assert isinstance(left.display, ShellDisplay)
    assert left.display.exit_code == 3
    after = endpoint.call("shell_exec", command="echo $KEPT; pwd", shell="exits")
    assert after.output == f"yes\n{endpoint.workspace}/exited\n"


def test_a_shell_does_not_see_the_settings_of_the_endpoint(endpoint: RunningEndpoint) -> None:
    output = endpoint.call("shell_exec", command="env").output
    assert "SANDBOX_PUBLIC_KEY" not in output
    assert "PYTHONPATH" not in output


def test_output_comes_while_the_command_runs(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client:
        body = {"call_id": endpoint.new_call(), "arguments": {"command": "echo one; read x < gate; echo two"}}
        os.mkfifo(endpoint.workspace / "gate")
        with client.stream("POST", "/tools/shell_exec", json=body) as answer:
            lines = answer.iter_lines()
            assert json.loads(next(lines)) == {"type": "output", "offset": 0, "text": "one\n"}
            (endpoint.workspace / "gate").write_text("go\n")
            assert json.loads(next(lines)) == {"type": "output", "offset": 4, "text": "two\n"}
            assert json.loads(next(lines))["result"]["output"] == "one\ntwo\n"


@pytest.mark.thorough
def test_megabytes_of_output_keep_their_head_and_tail(endpoint: RunningEndpoint) -> None:
    frames, result = endpoint.frames("shell_exec", command="echo START; yes 0123456789 | head -c 3000000; echo END")
    assert "characters left out" in result.output
    assert result.output.startswith("START\n0123456789\n")
    assert result.output.rstrip().endswith("END")
    assert 1_000_000 <= len(result.output) < 1_000_200
    assert "characters left out" in result.output
    assert sum(len(frame["text"]) for frame in frames) <= 1_000_000


@pytest.mark.thorough
def test_offsets_of_live_output_join_without_holes(endpoint: RunningEndpoint) -> None:
    frames, result = endpoint.frames("shell_exec", command="for i in $(seq 400); do echo é$i; done")
    text = ""
    for frame in frames:
        assert frame["offset"] == len(text)
        text += frame["text"]
    assert text == result.output


def test_a_busy_shell_says_so_and_another_runs_meanwhile(endpoint: RunningEndpoint, seconds: str) -> None:
    kept = endpoint.call("shell_exec", command=f"sleep {seconds}", shell="busy", timeout_s=1, keep_running=True)
    assert kept.success
    assert "still running" in kept.output
    refused = endpoint.call("shell_exec", command="echo no", shell="busy")
    assert not refused.success
    assert f"still running: sleep {seconds}" in refused.output
    assert endpoint.call("shell_exec", command="echo yes", shell="other").output == "yes\n"
    assert endpoint.call("shell_kill", shell="busy").success
    assert processes_with(f"sleep {seconds}") == []


def test_two_shells_run_at_the_same_time(endpoint: RunningEndpoint) -> None:
    for name in ("left", "right"):
        fifo = endpoint.workspace / name
        fifo.unlink(missing_ok=True)
        os.mkfifo(fifo)
    with ThreadPoolExecutor(2) as pool:
        left = pool.submit(
            endpoint.call,
            "shell_exec",
            command=f"cd {endpoint.workspace}; echo hello > left; cat right",
            shell="keep",
            timeout_s=30,
        )
        right = pool.submit(
            endpoint.call,
            "shell_exec",
            command=f"cd {endpoint.workspace}; cat left; echo back > right",
            shell="other",
            timeout_s=30,
        )
        assert left.result(40).output == "back\n"
        assert right.result(40).output == "hello\n"


def test_a_kept_command_can_be_typed_to_watched_and_waited_for(endpoint: RunningEndpoint) -> None:
    command = "read -p 'name? ' name; echo hello $name; read more; echo got $more"
    endpoint.call("shell_exec", command=command, shell="talk", timeout_s=1, keep_running=True)
    assert "name? " in endpoint.call("shell_view", shell="talk").output
    assert "hello Ada" in endpoint.call("shell_write", shell="talk", text="Ada").output
    endpoint.call("shell_write", shell="talk", text="this")
    waited = endpoint.call("shell_wait", shell="talk", timeout_s=30)
    assert waited.output.endswith("got this\n")


def test_control_c_reaches_the_running_program(endpoint: RunningEndpoint, seconds: str) -> None:
    endpoint.call("shell_exec", command=f"sleep {seconds}; echo not-this", shell="talk", timeout_s=1, keep_running=True)
    endpoint.call("shell_write", shell="talk", text="\x03", press_enter=False)
    waited = endpoint.call("shell_wait", shell="talk", timeout_s=30)
    assert isinstance(waited.display, ShellDisplay)
    assert waited.display.exit_code == 130
    assert "not-this" not in waited.output


def test_commands_have_a_terminal(endpoint: RunningEndpoint) -> None:
    assert endpoint.call("shell_exec", command="test -t 0 && test -t 1 && echo terminal").output == "terminal\n"


def test_looking_at_a_shell_nobody_opened_is_a_result(endpoint: RunningEndpoint) -> None:
    assert "No command has run" in endpoint.call("shell_view", shell="nobody").output


def test_a_long_script_with_quotes_runs_as_it_is(endpoint: RunningEndpoint) -> None:
    script = "cat > long.txt <<'END'\n" + 'it\'s "quoted" $HOME `x` !!\n' * 3000 + "END\nwc -l < long.txt"
    assert endpoint.call("shell_exec", command=script).output.strip() == "3000"
    assert Path(endpoint.workspace, "long.txt").read_text().startswith('it\'s "quoted" $HOME `x` !!\n')


@pytest.mark.quiet
def test_true_comes_back_in_under_ten_milliseconds(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client:

        def taken() -> float:
            body = {"arguments": {"command": "true"}, "call_id": endpoint.new_call()}
            started = time.perf_counter()
            client.post("/tools/shell_exec", json=body)
            return time.perf_counter() - started

        taken()
        assert_median([taken() for _ in range(50)], below_s=0.010)


def test_progress_is_told_as_it_ended_and_shown_live_as_it_is_written(endpoint: RunningEndpoint) -> None:
    loop = r"""for i in $(seq 2000); do printf '\r\033[K\033[32m%4d of 2000\033[0m' $i; done; echo; echo done"""
    frames, result = endpoint.frames("shell_exec", command=f"echo start; {loop}")
    assert result.output == "start\n2000 of 2000\ndone\n"
    written = "".join(frame["text"] for frame in frames)
    assert written.count("\x1b[32m") == 2000
    assert result.raw_output == written
    assert endpoint.call("shell_view").output == result.output


@pytest.mark.thorough
def test_what_a_command_that_was_ended_had_drawn_is_told_as_it_was(endpoint: RunningEndpoint) -> None:
    result = endpoint.call("shell_exec", command=r"printf '1 %%\r2 %%\n'; sleep 60", timeout_s=1)
    assert result.output.startswith("2 %\n")
    assert "[The command was ended" in result.output
