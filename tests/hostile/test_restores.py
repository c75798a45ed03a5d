"""A hostile process against what its workspace is packed and brought back by."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import psutil
import pytest

from support.intruder import Intruder, enter, insist, manager_client
from support.stack import Stack

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]

STAGE = "/workspace/.agent-restore"
LEFT = {
    "a-file": f"echo x > {STAGE}",
    "nothing-new": f"mkdir {STAGE}; touch {STAGE}/emptied",
    "new-is-a-file": f"mkdir {STAGE}; touch {STAGE}/emptied {STAGE}/new",
    "old-is-a-file": f"mkdir {STAGE}; touch {STAGE}/complete {STAGE}/old",
    "a-folder-for-a-mark": f"mkdir -p {STAGE}/emptied {STAGE}/new",
    "collision": f"mkdir -p {STAGE}/new/a {STAGE}/old/a; touch {STAGE}/complete {STAGE}/new/a/x",
    "links-outside": f"mkdir {STAGE}; touch {STAGE}/emptied; ln -s /archives {STAGE}/new; ln -s / {STAGE}/old",
    "shut": f"mkdir -p {STAGE}/new/a; touch {STAGE}/emptied; chmod 0 {STAGE}/new/a {STAGE}/new {STAGE} /workspace",
}
# What depends on who exchanges the files: rights, and what links lead to. The rest is the same program's look at names.
LEFT_TO_ORDINARY = ("collision", "links-outside", "shut")
UNWRITABLE = "mkdir -p /workspace/b/c && chmod 555 /workspace/b/c /workspace/b"
ALL_AT_ONCE = (
    f"mkdir -p {STAGE}/new/a {STAGE}/old/a {STAGE}/shut/in; touch {STAGE}/complete {STAGE}/emptied {STAGE}/new/a/x; "
    f"ln -s /archives {STAGE}/link; ln -s / {STAGE}/up; chmod 0 {STAGE}/shut {STAGE}/new/a {STAGE} /workspace; "
    "echo left"
)

LONG_PATHS = """
import os
at = os.open("/workspace", os.O_RDONLY)
for _ in range(190):
    os.mkdir("d" * 250, dir_fd=at)
    inner = os.open("d" * 250, os.O_RDONLY, dir_fd=at)
    os.close(at)
    at = inner
for number in range(12_000):
    os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=at))
print("made")
"""
PACKER_MIB = 100


@pytest.fixture(params=["root", "ordinary"])
def any_stack(request: pytest.FixtureRequest) -> Stack:
    return request.getfixturevalue("stack" if request.param == "root" else "ordinary_stack")


async def snapshot(intruder: Intruder, session_id: str) -> str:
    who = {"user_id": "intruder"}
    taken = await intruder.manager.post(f"/workspaces/{session_id}/snapshots", params=who, json={"name": "kept"})
    assert taken.status_code == 201, taken.text
    return str(taken.json()["id"])


async def test_nothing_left_where_files_are_exchanged_keeps_them_from_being_restored_or_removed(
    any_stack: Stack, request: pytest.FixtureRequest
) -> None:
    """One session whose files are restored over each, with folders nobody may write to, and removed with all."""
    session_id, held = f"left-{secrets.token_hex(4)}", any_stack.data_dir / "sandboxes"
    who = {"user_id": "intruder"}
    is_ordinary = request.node.callspec.params["any_stack"] == "ordinary"
    kept = ""
    async with manager_client(any_stack) as manager:
        for name in LEFT_TO_ORDINARY if is_ordinary else LEFT:
            async with enter(any_stack, session_id, keep_workspace=True) as intruder:
                if not kept:
                    made = f"mkdir /workspace/a && echo then > /workspace/a/note && {UNWRITABLE}"
                    assert "exit=0" in await intruder.run(made)
                    kept = await snapshot(intruder, session_id)
                assert "exit=0" in await intruder.run(f"echo now > /workspace/a/note; {LEFT[name]}"), name
                path = f"/workspaces/{session_id}/snapshots/{kept}/restore"
                restored = await insist(lambda path=path: manager.post(path, params=who))
                assert restored.status_code < 300, (name, restored.text)
            own = held / "workspaces" / session_id
            assert (own / "a" / "note").read_text() == "then\n", name
            assert {"a", "b"} <= {path.name for path in own.iterdir()}, name
            assert not (own / ".agent-restore").exists(), name

        async with enter(any_stack, session_id, keep_workspace=True) as again:
            told = await again.run("cat /workspace/a/note; ls -A /workspace")
            assert "then" in told
            assert ".agent-restore" not in told
            assert "left" in await again.run(f"{UNWRITABLE.replace('/b', '/d')}; {ALL_AT_ONCE}")
        removed = await insist(lambda: manager.delete(f"/workspaces/{session_id}", params=who))
        assert removed.status_code == 204, removed.text
    async with asyncio.timeout(30):
        while remains(held, session_id):
            await asyncio.sleep(0.05)


async def test_packing_long_paths_takes_no_memory_of_the_machines(any_stack: Stack) -> None:
    """12,000 empty files, 190 folders down, made the program that packs them take 577 MB beside every limit."""
    session_id, who = f"long-{secrets.token_hex(4)}", {"user_id": "intruder"}
    async with enter(any_stack, session_id) as intruder:
        assert "made" in await intruder.python(LONG_PATHS)
        taking = asyncio.create_task(
            intruder.manager.post(f"/workspaces/{session_id}/snapshots", params=who, json={"name": "long"})
        )
        most = 0
        while not taking.done():
            most = max(most, await asyncio.to_thread(packers_bytes, any_stack))
            await asyncio.sleep(0.05)
        refused = await taking

        assert refused.status_code == 409, refused.text
        assert "paths are too long" in refused.text
        assert most < PACKER_MIB << 20
        assert "exit=0" in await intruder.run("true")


def packers_bytes(stack: Stack) -> int:
    found = 0
    for process in psutil.Process(stack.children()["manager"]).children(recursive=True):
        try:
            if "pack" in process.cmdline() and "bwrap" not in process.name():
                found = max(found, process.memory_info().rss)
        except psutil.Error:
            continue
    return found


def remains(held: Path, session_id: str) -> list[str]:
    found = [path.name for path in (held / "gone").iterdir() if session_id in path.name]
    return found + [str(path) for path in held.glob(f"*/{session_id}")]
