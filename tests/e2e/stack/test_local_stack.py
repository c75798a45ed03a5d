"""One command starts everything and ends everything."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from support.figures import assert_median
from support.ordinary_user import as_ordinary_user
from support.stack import STOP_TIMEOUT_S, Stack, run_stack, spawn_stack, start_stack, wait_until

ROOT = Path(__file__).resolve().parents[3]


def status_of(url: str) -> int:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return int(answer.status)


def refused(data_dir: Path, **settings: str) -> str:
    """What a stack that can't start says."""
    output = data_dir.parent / f"{data_dir.name}-refused.txt"
    data_dir.mkdir(exist_ok=True)
    process = spawn_stack(data_dir, output, **settings)
    try:
        assert process.wait(100) == 1
    finally:
        process.kill()
        process.wait()
    return output.read_text(encoding="utf-8")


def naming(folder: Path) -> list[str]:
    """Processes whose command line names the folder."""
    found: list[str] = []
    for process in psutil.process_iter(["cmdline", "pid"]):
        command = " ".join(process.info["cmdline"] or [])
        if str(folder) in command:
            found.append(f"{process.info['pid']} {command[:120]}")
    return found


def test_the_page_is_there_when_the_address_is_printed(stack: Stack) -> None:
    assert status_of(stack.base_url + "/") == 200
    assert status_of(stack.base_url + "/readyz") == 200
    assert set(stack.children()) == {"mongod", "redis", "manager", "gateway"}


def test_everything_listens_on_loopback_alone(stack: Stack) -> None:
    listening = [
        connection
        for process in [psutil.Process(pid) for pid in stack.children().values()]
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert {connection.laddr.ip for connection in listening} == {"127.0.0.1"}


def test_secrets_are_readable_by_their_owner_alone(stack: Stack) -> None:
    assert (stack.data_dir / "secrets.json").stat().st_mode & 0o777 == 0o600


def started_again(data_dir: Path) -> float:
    """How long a start takes where everything is there."""
    began = time.monotonic()
    with run_stack(data_dir) as again:
        took = time.monotonic() - began
        assert status_of(again.base_url + "/") == 200
    return took


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.thorough),
        pytest.param(signal.SIGKILL, marks=pytest.mark.thorough),
    ],
)
def test_however_it_ends_all_of_it_is_gone_and_it_starts_again(tmp_path: Path, number: signal.Signals) -> None:
    running = start_stack(tmp_path)
    assert status_of(running.base_url + "/readyz") == 200
    if number == signal.SIGKILL:
        started = running.descendants()
        running.process.kill()
        running.process.wait(30)
        assert psutil.wait_procs(started, timeout=30)[1] == []
    else:
        began = time.monotonic()
        assert running.stop(number) == 0
        assert time.monotonic() - began < STOP_TIMEOUT_S / 2
        assert naming(tmp_path) == []

    with run_stack(tmp_path) as again:
        assert status_of(again.base_url + "/readyz") == 200


@pytest.mark.quiet
def test_the_page_is_there_within_ten_seconds_the_second_time(tmp_path: Path) -> None:
    start_stack(tmp_path).stop()
    first, second = (started_again(tmp_path) for _ in range(2))
    # Of three the median is decided by two that are alike.
    alike = (first < 10) == (second < 10)
    assert_median([first, second, *([] if alike else [started_again(tmp_path)])], below_s=10)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mongod", marks=pytest.mark.thorough),
        pytest.param("redis", marks=pytest.mark.thorough),
        pytest.param("manager", marks=pytest.mark.thorough),
        "gateway",
    ],
)
async def test_a_child_that_dies_is_brought_back_with_a_reason(stack: Stack, name: str) -> None:
    before = stack.children()[name]
    returns = stack.printed().count(f"{name} is back")
    await stack.kill(name)
    assert wait_until(lambda: stack.printed().count(f"{name} is back") > returns, 30)
    assert f"{name} was killed by SIGKILL" in stack.printed()
    assert stack.children()[name] != before
    assert wait_until(lambda: is_ready(stack), 30)


def is_ready(stack: Stack) -> bool:
    try:
        return status_of(stack.base_url + "/readyz") == 200
    except OSError:
        return False


@pytest.fixture
def own_checkout() -> Generator[Path]:
    """The supervisor's files alone, where every user may look."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(ROOT / "scripts", folder / "scripts")
        yield folder


@pytest.mark.parametrize("is_ours", [True, False])
def test_settings_that_cannot_be_read_are_named(own_checkout: Path, *, is_ours: bool) -> None:
    if not is_ours and os.geteuid() != 0:
        pytest.skip("only root makes a file that another user can't read")
    settings = own_checkout / ".env"
    settings.write_bytes(b"PORT=\xff\n")
    settings.chmod(0o600)
    command = [sys.executable, "-m", "local_stack"]
    environ = {**os.environ, "PYTHONPATH": str(own_checkout / "scripts"), "PYTHONDONTWRITEBYTECODE": "1"}

    done = subprocess.run(
        command if is_ours else as_ordinary_user(command),
        env=environ,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {settings} can't be read: "), done.stderr
    assert "Traceback" not in done.stderr


def test_a_checkout_of_somebody_else_is_refused_with_what_to_do(own_checkout: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has a folder that another user can't write")
    script = f"ROOT={own_checkout}; . $ROOT/scripts/setup.sh; ensure_python local"

    done = subprocess.run(
        as_ordinary_user(["bash", "-euc", script]), cwd="/", capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {own_checkout} is not yours to write. "), done.stderr


def test_a_second_stack_runs_beside_the_first_and_asks_for_an_account_in_password_mode(
    stack: Stack, tmp_path: Path
) -> None:
    with run_stack(tmp_path, AUTH_MODE="password") as other:
        assert other.base_url != stack.base_url
        assert status_of(other.base_url + "/") == status_of(stack.base_url + "/") == 200
        with urllib.request.urlopen(other.base_url + "/api/auth/status", timeout=30) as answer:
            assert b'"password"' in answer.read()
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(other.base_url + "/api/sessions", timeout=30)
        assert refusal.value.code == 401
        refusal.value.close()


def test_one_data_folder_serves_one_stack(stack: Stack) -> None:
    said = refused(stack.data_dir)
    assert "already uses DATA_DIR" in said
    assert str(stack.process.pid) in said


def test_a_taken_port_is_named_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(tmp_path / "data", PORT=str(port))
    assert f"Port {port} on 127.0.0.1 is in use" in said
    assert naming(tmp_path) == []


@pytest.mark.thorough
def test_a_missing_engine_is_said_with_what_to_do(tmp_path: Path) -> None:
    said = refused(tmp_path / "data", SANDBOX_RUNTIME="docker", DOCKER_HOST=f"unix://{tmp_path}/no-engine.sock")
    assert "The Docker engine can't be reached" in said
    assert naming(tmp_path) == []


def test_no_log_in_is_refused_beyond_loopback(tmp_path: Path) -> None:
    assert "HOST must be a loopback address" in refused(tmp_path / "data", HOST="0.0.0.0")


def test_the_script_explains_itself() -> None:
    root = Path(__file__).resolve().parents[3]
    for script in ("run.sh", "build.sh", "dev.sh", "update.sh", ".ci/run"):
        said = subprocess.run(
            [root / script, "--help"], capture_output=True, text=True, check=True, env=dict(os.environ)
        )
        assert "Usage:" in said.stdout, script
