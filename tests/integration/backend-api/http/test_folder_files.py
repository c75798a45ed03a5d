"""Files of folders: in the workspace of each conversation there, never over what was changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from beanie import PydanticObjectId

from backend_api.folders import domain
from backend_api.folders.application import folder_files
from backend_api.folders.mongo import files as stored
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.ports import Download
from support.gateway import Gateway


async def folder(gateway: Gateway, headers: dict[str, str]) -> str:
    return str((await gateway.client.post("/api/folders", json={"name": "Work"}, headers=headers)).json()["id"])


async def add(gateway: Gateway, headers: dict[str, str], folder_id: str, **files: bytes) -> Any:
    form = [("files", (name.replace("_", "."), content)) for name, content in files.items()]
    return await gateway.client.post(f"/api/folders/{folder_id}/files", files=form, headers=headers)


async def within(gateway: Gateway, headers: dict[str, str], folder_id: str) -> str:
    session_id = await gateway.session(headers)
    await gateway.client.put(f"/api/sessions/{session_id}/folder", json={"folder_id": folder_id}, headers=headers)
    return session_id


async def workspace(gateway: Gateway, headers: dict[str, str], session_id: str) -> dict[str, str]:
    """What a person sees who opens the files of the conversation."""
    answer = await gateway.client.get(f"/api/sessions/{session_id}/files", headers=headers)
    assert answer.status_code == 200, answer.text
    return {name: content.decode() for name, content in gateway.workspace.files.get(session_id, {}).items()}


async def names(gateway: Gateway, headers: dict[str, str], folder_id: str) -> list[str]:
    listed = (await gateway.client.get(f"/api/folders/{folder_id}/files", headers=headers)).json()
    return [one["name"] for one in listed["items"]]


async def test_files_are_listed_replaced_and_deleted(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    added = await add(gateway, anna, work, b_txt=b"two", a_txt=b"one")
    assert (added.status_code, [one["size"] for one in added.json()["items"]]) == (201, [3, 3])
    again = (await add(gateway, anna, work, a_txt=b"changed")).json()["items"]
    listed = (await gateway.client.get(f"/api/folders/{work}/files", headers=anna)).json()["items"]
    assert [(one["name"], one["size"]) for one in listed] == [("a.txt", 7), ("b.txt", 3)]
    assert await stored.FolderFilePartDocument.find({"folder_id": work}).count() == 2
    url = f"/api/folders/{work}/files/{again[0]['id']}"
    assert (await gateway.client.delete(url, headers=anna)).status_code == 204
    assert (await gateway.client.delete(url, headers=anna)).json()["code"] == "folder_file_not_found"
    assert await names(gateway, anna, work) == ["b.txt"]


async def test_conversations_of_the_folder_have_them_in_each_workspace(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    big = b"x" * (3 * stored.PART_BYTES + 5)
    await add(gateway, anna, work, notes_txt=b"read me", big_bin=big)
    first, other = await within(gateway, anna, work), await gateway.session(anna)
    expected = {"folder/notes.txt": "read me", "folder/big.bin": big.decode()}
    assert await workspace(gateway, anna, first) == expected
    assert await workspace(gateway, anna, other) == {}
    read = await gateway.client.get(f"/api/sessions/{first}/events", params={"format": "json"}, headers=anna)
    events = read.json()["items"]
    assert [one["paths"] for one in events if one["type"] == "files.changed"] == [
        ["folder/big.bin"],
        ["folder/notes.txt"],
    ]

    await add(gateway, anna, work, later_txt=b"late")
    assert await workspace(gateway, anna, first) == expected | {"folder/later.txt": "late"}


async def test_what_was_changed_or_deleted_in_a_workspace_stays_so(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    await add(gateway, anna, work, kept_txt=b"1", changed_txt=b"1", gone_txt=b"1")
    session_id = await within(gateway, anna, work)
    files = gateway.workspace.files.setdefault(session_id, {})
    files["folder/kept.txt"] = b"of the agent"
    await workspace(gateway, anna, session_id)
    assert files["folder/kept.txt"] == b"of the agent"
    assert files["folder/kept (2).txt"] == b"1"
    files["folder/changed.txt"] = b"better"
    del files["folder/gone.txt"]
    await gateway.sandboxes.end(session_id)
    before = dict(files)
    assert await workspace(gateway, anna, session_id) == {name: text.decode() for name, text in before.items()}

    await add(gateway, anna, work, changed_txt=b"2")
    assert (await workspace(gateway, anna, session_id))["folder/changed.txt"] == "better"
    assert files["folder/changed (2).txt"] == b"2"
    await add(gateway, anna, work, new_txt=b"1")
    await workspace(gateway, anna, session_id)
    await add(gateway, anna, work, new_txt=b"2")
    await workspace(gateway, anna, session_id)
    assert (files["folder/new.txt"], "folder/new (2).txt" in files) == (b"2", False)


async def test_a_file_without_end_in_a_workspace_is_not_read_to_its_end(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = 0

    @asynccontextmanager
    async def endless(sandbox: Sandbox, path: str) -> AsyncGenerator[Download]:
        async def chunks() -> AsyncIterator[bytes]:
            nonlocal sent
            while sent < 10 * domain.MAX_FILE_BYTES:
                sent += 1024**2
                yield bytes(1024**2)

        yield Download(name=path, size=None, chunks=chunks())

    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    await add(gateway, anna, work, notes_txt=b"read me")
    session_id = await within(gateway, anna, work)
    gateway.workspace.files[session_id] = {"folder/notes.txt": b"endless"}
    monkeypatch.setattr(gateway.workspace, "download", endless)
    assert "folder/notes (2).txt" in await workspace(gateway, anna, session_id)
    assert sent <= domain.MAX_FILE_BYTES + 2 * 1024**2


async def test_of_an_upload_that_is_cut_what_is_whole_is_there_and_sent_again_nothing_is_double(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    headers = anna | {"Content-Type": "multipart/form-data; boundary=b"}

    def part(name: str, content: bytes) -> bytes:
        return f'--b\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode() + content

    big = b"x" * (2 * stored.PART_BYTES)

    async def cut() -> AsyncIterator[bytes]:
        yield part("a.txt", b"whole\r\n") + part("b.bin", big)
        while await names(gateway, anna, work) != ["a.txt"]:
            await asyncio.sleep(0.01)
        raise ConnectionError("the tab was closed")

    with pytest.raises(ConnectionError):
        await gateway.client.post(f"/api/folders/{work}/files", content=cut(), headers=headers)
    assert await names(gateway, anna, work) == ["a.txt"]
    # A worker that is killed in the middle leaves parts that nobody lists.
    left = stored.FolderFilePartDocument(folder_id=work, version="of the killed", part=0, content=b"x")
    await left.insert()
    monkeypatch.setattr(stored, "LEFT_AFTER", timedelta(seconds=-1))
    await add(gateway, anna, work, a_txt=b"whole", b_bin=big)
    assert await names(gateway, anna, work) == ["a.txt", "b.bin"]
    parts = await stored.FolderFilePartDocument.find({"folder_id": work}).to_list()
    assert sorted((len(one.content), one.part) for one in parts) == [
        (5, 0),
        (stored.PART_BYTES, 0),
        (stored.PART_BYTES, 1),
    ]
    session_id = await within(gateway, anna, work)
    assert await workspace(gateway, anna, session_id) == {"folder/a.txt": "whole", "folder/b.bin": big.decode()}


async def claimed_by_one_that_died(gateway: Gateway, session_id: str, after_its_upload: bool) -> None:
    """A worker that has claimed the placement of all files, and was killed before it said that it is done."""
    session = await gateway.database["sessions"].find_one({"_id": session_id})
    assert session is not None
    for one in await stored.MongoFolderFiles(gateway.database).of_folder(session["folder_id"]):
        assert await stored.MongoPlacements().claim(SessionId(session_id), one)
        if after_its_upload:
            gateway.workspace.files.setdefault(session_id, {})[f"folder/{one.name}"] = b"read me"


@pytest.mark.thorough
@pytest.mark.parametrize("after_its_upload", [False, True])
async def test_another_takes_over_from_one_that_died_while_it_put_a_file_there(
    gateway: Gateway, after_its_upload: bool
) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    await add(gateway, anna, work, notes_txt=b"read me")
    session_id = await within(gateway, anna, work)
    await claimed_by_one_that_died(gateway, session_id, after_its_upload)
    before = await workspace(gateway, anna, session_id)
    # It may still be at work: nobody interferes.
    assert before == ({"folder/notes.txt": "read me"} if after_its_upload else {})
    await later(gateway, session_id, stored.TAKEN_OVER_S - 10)
    assert await workspace(gateway, anna, session_id) == before
    await later(gateway, session_id, 20)
    await asyncio.gather(*(workspace(gateway, anna, session_id) for _ in range(5)))
    assert await workspace(gateway, anna, session_id) == {"folder/notes.txt": "read me"}
    placed = await stored.FolderPlacementDocument.find({"session_id": session_id}).to_list()
    assert [(one.is_done, one.path) for one in placed] == [(True, "folder/notes.txt")]


async def later(gateway: Gateway, session_id: str, seconds: float) -> None:
    """For the database, whose clock decides, the claims are older by then."""
    aged = [{"$set": {"claimed_at": {"$subtract": ["$claimed_at", round(seconds * 1000)]}}}]
    await gateway.database["folder_placements"].update_many({"session_id": session_id}, aged)


@pytest.mark.thorough
async def test_two_who_ask_for_the_computer_at_once_put_a_file_there_once(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    await add(gateway, anna, work, notes_txt=b"read me")
    session_id = await within(gateway, anna, work)
    await asyncio.gather(*(workspace(gateway, anna, session_id) for _ in range(5)))
    assert list(gateway.workspace.files[session_id]) == ["folder/notes.txt"]


async def test_they_go_with_the_folder_and_workspaces_keep_theirs(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    await add(gateway, anna, work, notes_txt=b"read me")
    session_id = await within(gateway, anna, work)
    await workspace(gateway, anna, session_id)
    await gateway.client.delete(f"/api/folders/{work}", headers=anna)
    assert await workspace(gateway, anna, session_id) == {"folder/notes.txt": "read me"}
    assert (await add(gateway, anna, work, a_txt=b"")).json()["code"] == "folder_not_found"
    for kind in (stored.FolderFileDocument, stored.FolderFilePartDocument):
        assert await kind.find({"folder_id": work}).count() == 0


@pytest.mark.parametrize(
    "name",
    [
        "../a",
        pytest.param("a/b", marks=pytest.mark.thorough),
        pytest.param("a\\b", marks=pytest.mark.thorough),
        "..",
        pytest.param(".", marks=pytest.mark.thorough),
        pytest.param(" ", marks=pytest.mark.thorough),
        pytest.param("a" * 201, marks=pytest.mark.thorough),
        "a\u202eb",
    ],
)
async def test_a_name_that_is_a_path_or_none_is_refused(gateway: Gateway, name: str) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    body = (
        b'--b\r\nContent-Disposition: form-data; name="files"; filename="'
        + name.replace("\\", "\\\\").encode()
        + b'"\r\n\r\nx\r\n--b--\r\n'
    )
    headers = anna | {"Content-Type": "multipart/form-data; boundary=b"}
    refused = await gateway.client.post(f"/api/folders/{work}/files", content=body, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid"), refused.text
    assert await names(gateway, anna, work) == []


async def test_a_folder_takes_but_so_much(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    monkeypatch.setattr(folder_files, "MAX_FILE_BYTES", 10)
    monkeypatch.setattr(folder_files, "MOST_BYTES", 15)
    monkeypatch.setattr(folder_files, "MOST_FILES", 3)
    too_large = await add(gateway, anna, work, a_txt=b"x" * 11)
    assert (too_large.status_code, too_large.json()["code"]) == (413, "upload_too_large"), too_large.text
    assert (await add(gateway, anna, work, a_txt=b"x" * 10)).status_code == 201
    full = await add(gateway, anna, work, b_txt=b"x" * 6)
    assert (full.status_code, full.json()["code"]) == (413, "folder_full"), full.text
    assert (await add(gateway, anna, work, a_txt=b"x" * 9)).status_code == 201
    assert await names(gateway, anna, work) == ["a.txt"]
    assert await stored.FolderFilePartDocument.find({"folder_id": work}).count() == 1
    await add(gateway, anna, work, b_txt=b"", c_txt=b"")
    assert (await add(gateway, anna, work, d_txt=b"")).json()["code"] == "folder_full"
    assert domain.PLACE == "folder"


async def test_all_folders_of_a_user_together_take_but_so_much_also_of_many_at_once(gateway: Gateway) -> None:
    change = gateway.port("change_folder_files", folder_files.ChangeFolderFiles)
    ports = cast("dict[str, Any]", gateway.ports.modules.ports)
    ports["change_folder_files"] = replace(change, most_of_user=3_000_000)
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    folders = [await folder(gateway, anna) for _ in range(4)]
    answers = await asyncio.gather(*(add(gateway, anna, one, a_txt=b"x" * 1_100_000) for one in folders))
    assert sorted(one.status_code for one in answers) == [201, 201, 413, 413]
    refused = [one for one in answers if one.status_code == 413]
    assert {one.json()["code"] for one in refused} == {"folder_files_quota"}
    assert await stored.FolderFilePartDocument.find().count() == 4, "nothing is left of what was refused"
    kept, full = (
        [one for one, answer in zip(folders, answers, strict=True) if answer.status_code == status]
        for status in (201, 413)
    )
    assert (await add(gateway, anna, kept[0], a_txt=b"y" * 1_200_000)).status_code == 201, "in the place of the former"
    late = await add(gateway, anna, full[0], a_txt=b"x" * 800_000)
    assert (late.status_code, late.json()["code"]) == (413, "folder_files_quota")
    assert "2 MB" in late.json()["detail"]
    assert (await add(gateway, bert, await folder(gateway, bert), a_txt=b"x" * 1_100_000)).status_code == 201
    assert (await gateway.client.delete(f"/api/folders/{kept[0]}", headers=anna)).status_code == 200
    assert (await add(gateway, anna, full[0], a_txt=b"x" * 800_000)).status_code == 201


@pytest.mark.thorough
async def test_two_at_once_in_a_full_folder_never_cost_the_file_that_one_replaces(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_files, "MOST_BYTES", 1_500_000)
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    await add(gateway, anna, work, a_txt=b"former")
    answers = await asyncio.gather(
        add(gateway, anna, work, a_txt=b"x" * 1_000_000), add(gateway, anna, work, b_txt=b"x" * 1_000_000)
    )
    assert sorted(one.status_code for one in answers) == [201, 413]
    assert "a.txt" in await names(gateway, anna, work)


@pytest.mark.thorough
async def test_what_an_upload_left_whose_process_ended_goes_with_the_next(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    work = await folder(gateway, anna)
    part = stored.FolderFilePartDocument(folder_id=work, version="left", part=0, content=b"x")
    part.id = PydanticObjectId.from_datetime(datetime.now(UTC) - timedelta(days=1))
    await part.insert()
    fresh = stored.FolderFilePartDocument(folder_id=work, version="under way", part=0, content=b"x")
    await fresh.insert()
    await add(gateway, anna, work, a_txt=b"one")
    there = {one.version for one in await stored.FolderFilePartDocument.find({"folder_id": work}).to_list()}
    assert "left" not in there
    assert "under way" in there
    assert len(there) == 2
