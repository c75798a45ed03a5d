"""The seccomp profile: what was generated is what is committed, and what it must never allow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "sandbox-image"


@pytest.fixture
def profile() -> dict[str, Any]:
    return json.loads((FOLDER / "seccomp.json").read_text())


def unconditional(profile: dict[str, Any]) -> set[str]:
    return {name for rule in profile["syscalls"] if not rule["args"] for name in rule["names"]}


def test_the_committed_profile_is_the_generated_one(tmp_path: Path) -> None:
    copy = tmp_path / "generate_seccomp.py"
    copy.write_text((FOLDER / copy.name).read_text())
    subprocess.run([sys.executable, str(copy)], check=True, timeout=30)

    assert (tmp_path / "seccomp.json").read_text() == (FOLDER / "seccomp.json").read_text()


def test_what_is_not_named_is_refused(profile: dict[str, Any]) -> None:
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {rule["action"] for rule in profile["syscalls"]} == {"SCMP_ACT_ALLOW"}


def test_chrome_can_build_its_own_sandbox(profile: dict[str, Any]) -> None:
    assert {"clone", "clone3", "unshare", "setns", "chroot"} <= unconditional(profile)


def test_what_reaches_the_kernel_or_other_containers_is_never_allowed(profile: dict[str, Any]) -> None:
    named = {name for rule in profile["syscalls"] for name in rule["names"]}
    refused = {"mount", "umount2", "pivot_root", "bpf", "perf_event_open", "kexec_load", "init_module", "add_key"}
    refused |= {"keyctl", "request_key", "userfaultfd", "io_uring_setup", "open_by_handle_at", "reboot", "swapon"}
    refused |= {"move_mount", "fsopen", "open_tree", "kcmp", "iopl", "ioperm", "settimeofday", "syslog", "acct"}
    refused |= {"io_setup", "io_submit"}

    assert not named & refused
