"""One suite for snapshots and restores on every runtime."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_manager.domain.sandbox import Identity, Started
from sandbox_manager.domain.workspace import ArchiveBounds, SnapshotRefusedError
from support.runtime_labs import Lab
from support.sandboxes import START_S, new_identity, run_inside, spec_of

pytestmark = pytest.mark.timeout(180)
BOUNDS = ArchiveBounds(max_bytes=50_000_000)
HUGE = ArchiveBounds(max_bytes=1 << 40)
STOPPED_S = 20


async def start(lab: Lab, identity: Identity) -> Started:
    async with asyncio.timeout(START_S):
        return await lab.runtime.start_sandbox(spec_of(identity))


async def test_files_come_back_as_they_were_for_the_next_generation(lab: Lab) -> None:
    old = new_identity()
    started = await start(lab, old)
    archives, who = lab.runtime.archives, (old.session_id, old.user_id)
    await lab.write(old, started, "first")
    packed = await archives.pack(*who, "one", BOUNDS)
    await lab.write(old, started, "second")
    await archives.pack(*who, "two", BOUNDS)
    await lab.runtime.remove(old, keep_workspace=True)

    await archives.unpack(*who, "one", BOUNDS)

    assert packed.files >= 1
    assert packed.content_bytes > 0
    new = new_identity(old.session_id, generation=2)
    started = await start(lab, new)
    assert await lab.read(new, started) == "first"
    await lab.write(new, started, "third")
    await lab.runtime.remove(new, keep_workspace=True)
    await archives.drop(*who, "one")
    with pytest.raises(SnapshotRefusedError, match="gone"):
        await archives.unpack(*who, "one", BOUNDS)
    await archives.unpack(*who, "two", BOUNDS)
    last = new_identity(old.session_id, generation=3)
    assert await lab.read(last, await start(lab, last)) == "second"


@pytest.mark.parametrize("real_lab", ["process", pytest.param("docker", marks=pytest.mark.thorough)], indirect=True)
async def test_names_that_are_no_text_come_back_byte_for_byte_or_are_refused_in_words(real_lab: Lab) -> None:
    old = new_identity()
    archives, who = real_lab.runtime.archives, (old.session_id, old.user_id)
    write = r"cd /workspace; printf words > $'caf\xe9'; mkdir $'\xff\xfe'; printf more > $'\xff\xfe/\x80'"
    assert "exit=0" in await run_inside(await start(real_lab, old), old, write)
    with pytest.raises(SnapshotRefusedError, match=r"larger.*\\x"):
        await archives.pack(*who, "none", ArchiveBounds(max_bytes=3))
    await archives.pack(*who, "one", BOUNDS)
    await real_lab.runtime.remove(old, keep_workspace=True)

    await archives.unpack(*who, "one", BOUNDS)

    new = new_identity(old.session_id, generation=2)
    read = r"cd /workspace; ls | wc -l; cat $'caf\xe9' $'\xff\xfe/\x80'"
    assert "2\nwordsmore" in await run_inside(await start(real_lab, new), new, read)


@pytest.mark.thorough
async def test_a_caller_that_is_cancelled_leaves_no_program_at_work(real_lab: Lab) -> None:
    """It packs for minutes: whoever has the files next must not meet it there."""
    old = new_identity()
    archives, who = real_lab.runtime.archives, (old.session_id, old.user_id)
    started = await start(real_lab, old)
    assert "exit=0" in await run_inside(started, old, "cd /workspace; truncate -s 60G large")
    packing = asyncio.create_task(archives.pack(*who, "one", HUGE))
    done, _ = await asyncio.wait({packing}, timeout=3)
    assert not done

    packing.cancel()
    async with asyncio.timeout(STOPPED_S):
        await asyncio.wait({packing})

    assert packing.cancelled()
    assert "exit=0" in await run_inside(started, old, "cd /workspace; rm large; echo first > small")
    await archives.drop(*who, "one")
    await archives.pack(*who, "two", BOUNDS)


@pytest.mark.parametrize("lab", ["fake", "process", pytest.param("docker", marks=pytest.mark.thorough)], indirect=True)
async def test_a_workspace_is_packed_where_there_is_one_that_fits_and_takes_its_archives_along(lab: Lab) -> None:
    identity = new_identity()
    archives, who = lab.runtime.archives, (identity.session_id, identity.user_id)
    with pytest.raises(SnapshotRefusedError, match="no files"):
        await archives.pack(*who, "one", BOUNDS)
    await lab.write(identity, await start(lab, identity), "something")
    with pytest.raises(SnapshotRefusedError, match="larger"):
        await archives.pack(*who, "one", ArchiveBounds(max_bytes=3))
    await archives.pack(*who, "one", BOUNDS)
    await lab.runtime.remove(identity, keep_workspace=True)
    assert lab.left(identity)

    await archives.remove(*who)
    await archives.remove(*who)

    assert lab.left(identity) == []
    with pytest.raises(SnapshotRefusedError):
        await archives.unpack(*who, "one", BOUNDS)
    await archives.remove(*who)
    await archives.mend(*who)
    await archives.drop(*who, "one")
