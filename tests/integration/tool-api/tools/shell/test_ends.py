"""Commands that are ended, over the real endpoint: nothing they started stays, and their shell goes on."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.endpoint import RunningEndpoint, await_true, processes_with
from support.figures import TIMES, assert_median


def over_its_time(endpoint: RunningEndpoint, seconds: str) -> float:
    """How long a command lasts that may take a second, with all it started."""
    command = (
        f"sleep {seconds} & setsid sleep {seconds} & (setsid sleep {seconds} &); "
        f"env -i sleep {seconds} & (trap '' TERM; sleep {seconds}; sleep {seconds}) & sleep {seconds}; echo not-this"
    )
    started = time.monotonic()
    result = endpoint.call("shell_exec", command=command, shell="keep", timeout_s=1)
    took = time.monotonic() - started
    assert not result.success
    assert "longer than 1 s" in result.output
    assert "not-this" not in result.output
    assert processes_with(f"sleep {seconds}") == []
    return took


def left_alone(endpoint: RunningEndpoint, seconds: str) -> float:
    """How long a command and all it started last once their client has gone away."""
    command = f"setsid sleep {seconds} & sleep {seconds} & sleep {seconds}"
    with endpoint.client() as client:
        body = {"call_id": endpoint.new_call(), "arguments": {"command": command, "shell": "keep"}}
        with client.stream("POST", "/tools/shell_exec", json=body):
            await_true(lambda: len(processes_with(f"sleep {seconds}")) == 3)
    return await_true(lambda: processes_with(f"sleep {seconds}") == [])


def cancelled(endpoint: RunningEndpoint, seconds: str) -> float:
    """How long the cancel of a call takes to answer."""
    command = f"echo so far; setsid sleep {seconds} & sleep {seconds}"
    call_id = endpoint.new_call()
    with endpoint.client() as client, endpoint.client() as other, ThreadPoolExecutor(1) as pool:
        body = {"call_id": call_id, "arguments": {"command": command}}
        answer = pool.submit(client.post, "/tools/shell_exec", json=body)
        await_true(lambda: len(processes_with(f"sleep {seconds}")) == 2)
        started = time.monotonic()
        assert other.post(f"/calls/{call_id}/cancel").status_code == 204
        took = time.monotonic() - started
        assert processes_with(f"sleep {seconds}") == []
        result = json.loads(answer.result(30).text.splitlines()[-1])["result"]
    assert not result["success"]
    assert "cancelled" in result["output"]
    assert "so far" in result["output"]
    return took


def test_a_command_over_its_time_is_ended_with_all_it_started(endpoint: RunningEndpoint, seconds: str) -> None:
    over_its_time(endpoint, seconds)
    assert endpoint.call("shell_exec", command="echo next", shell="keep").output.endswith("next\n")


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("while :; do :; done", marks=pytest.mark.thorough),
        "trap '' INT; while :; do :; done",
        pytest.param("read never", marks=pytest.mark.thorough),
        pytest.param("x=$(sleep {s}); echo not-this", marks=pytest.mark.thorough),
        pytest.param("for i in 1 2 3; do sleep {s}; echo not-this; done", marks=pytest.mark.thorough),
        "sleep {s} | cat; echo not-this",
        pytest.param("trap '' INT TERM; sleep {s}; echo not-this", marks=pytest.mark.thorough),
        pytest.param("f() {{ sleep {s}; echo not-this; }}; f; f", marks=pytest.mark.thorough),
        pytest.param(
            "python3 -c 'import time,signal; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); "
            'time.sleep(float("{s}"))\'; echo not-this',
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_stuck_command_does_not_poison_its_shell(endpoint: RunningEndpoint, seconds: str, command: str) -> None:
    folder = f"stuck{random.getrandbits(30)}"
    endpoint.call(
        "shell_exec",
        command=f"cd {endpoint.workspace}; mkdir {folder} && cd {folder}; export KEPT={folder}",
        shell="stuck",
    )
    stuck = endpoint.call("shell_exec", command=command.format(s=seconds), shell="stuck", timeout_s=1)
    assert not stuck.success
    assert "not-this" not in stuck.output
    assert processes_with(seconds) == []
    after = endpoint.call("shell_exec", command="echo $KEPT; pwd; cd ..", shell="stuck")
    assert after.output.endswith(f"{folder}\n{endpoint.workspace}/{folder}\n")


@pytest.mark.thorough
def test_a_background_process_of_an_earlier_command_survives_a_later_end(
    endpoint: RunningEndpoint, seconds: str
) -> None:
    endpoint.call("shell_exec", command=f"sleep {seconds} &", shell="keep")
    # A shell that was forked becomes the command a moment later.
    await_true(lambda: len(processes_with(f"sleep {seconds}")) == 1)
    mine = processes_with(f"sleep {seconds}")
    endpoint.call("shell_exec", command="sleep 100", shell="keep", timeout_s=1)
    assert processes_with(f"sleep {seconds}") == mine
    endpoint.call("shell_exec", command="kill $!", shell="keep")
    await_true(lambda: processes_with(f"sleep {seconds}") == [])


def test_a_client_that_goes_away_ends_its_command(endpoint: RunningEndpoint, seconds: str) -> None:
    left_alone(endpoint, seconds)
    assert endpoint.call("shell_exec", command="echo next", shell="keep").output.endswith("next\n")


def test_a_cancelled_call_has_left_nothing_when_the_cancel_answers(endpoint: RunningEndpoint, seconds: str) -> None:
    cancelled(endpoint, seconds)


@pytest.mark.thorough
def test_cancelling_a_call_that_is_over_is_no_error(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client:
        assert client.post("/calls/never-was/cancel").status_code == 204


def test_a_call_has_the_deadline_of_its_tool_and_none_of_its_caller(endpoint: RunningEndpoint, seconds: str) -> None:
    with endpoint.client() as client:
        arguments = {"command": f"sleep {seconds}", "shell": "keep"}
        body = {"call_id": endpoint.new_call(), "arguments": arguments, "deadline_ms": 1300}
        answer = client.post("/tools/shell_exec", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert processes_with(f"sleep {seconds}") == []


@pytest.mark.quiet
@pytest.mark.parametrize(("ended", "limit_s"), [(over_its_time, 1.5), (left_alone, 0.5), (cancelled, 0.5)])
def test_a_command_is_ended_within_half_a_second(
    endpoint: RunningEndpoint, seconds: str, ended: Callable[[RunningEndpoint, str], float], limit_s: float
) -> None:
    assert_median([ended(endpoint, seconds) for _ in range(TIMES)], below_s=limit_s)
