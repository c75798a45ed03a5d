"""The files panel's routes over the real endpoint."""

from __future__ import annotations

import io
import os
import random
import zipfile
from pathlib import Path

import pytest

from support.endpoint import RunningEndpoint


@pytest.fixture
def folder(endpoint: RunningEndpoint) -> Path:
    folder = endpoint.workspace / f"d{random.getrandbits(40)}"
    folder.mkdir()
    return folder


def test_a_folder_is_listed_without_the_agents_own_folders(endpoint: RunningEndpoint, folder: Path) -> None:
    (folder / "b.txt").write_text("12345")
    (folder / "sub").mkdir()
    (folder / ".env").write_text("")
    for hidden in (".agent", ".transcripts", ".tasks", ".team"):
        (folder / hidden).mkdir()
    (folder / "out").symlink_to("/etc")
    (folder / "in").symlink_to("b.txt")
    with endpoint.client() as client:
        entries = client.get("/files", params={"path": folder.name}).json()
    assert [(entry["name"], entry["is_dir"], entry["size"]) for entry in entries] == [
        ("sub", True, 0),
        (".env", False, 0),
        ("b.txt", False, 5),
        ("in", False, 5),
    ]
    assert entries[2]["path"] == f"{folder.name}/b.txt"
    assert entries[2]["modified_at"].endswith("Z")


def test_a_preview_is_text_cut_at_100_kb_and_null_for_binary(endpoint: RunningEndpoint, folder: Path) -> None:
    (folder / "a.py").write_text("x = 'é'\n")
    (folder / "long.txt").write_text("a" + "é" * 100_000)
    (folder / "bin").write_bytes(bytes(range(256)))
    with endpoint.client() as client:
        small, long, binary = (
            client.get("/files/content", params={"path": f"{folder.name}/{name}"}).json()
            for name in ("a.py", "long.txt", "bin")
        )
    assert (small["content"], small["language"], small["truncated"]) == ("x = 'é'\n", "python", False)
    assert long["truncated"]
    assert len(long["content"].encode()) in (102_399, 102_400)
    assert (binary["binary"], binary["content"], binary["size"]) == (True, None, 256)


def test_a_file_downloads_under_its_name(endpoint: RunningEndpoint, folder: Path) -> None:
    data = os.urandom(700_000)
    (folder / "é 你.bin").write_bytes(data)
    with endpoint.client() as client:
        answer = client.get("/files/download", params={"path": f"{folder.name}/é 你.bin"})
    assert answer.content == data
    assert answer.headers["content-length"] == "700000"
    assert "filename*=UTF-8''%C3%A9%20%E4%BD%A0.bin" in answer.headers["content-disposition"]


def test_a_folder_downloads_as_zip_without_what_links_lead_to(endpoint: RunningEndpoint, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.txt").write_text("hello" * 100_000)
    (folder / ".agent").mkdir()
    (folder / ".agent" / "secret").write_text("x")
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    with endpoint.client() as client:
        answer = client.get("/files/download", params={"path": folder.name})
    assert answer.headers["content-type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    assert sorted(archive.namelist()) == ["sub/", "sub/a.txt"]
    assert archive.read("sub/a.txt") == b"hello" * 100_000


def test_uploads_arrive_under_safe_names(endpoint: RunningEndpoint, folder: Path) -> None:
    files = [("files", ("../../é.txt", b"one")), ("files", ("C:\\x\\b.bin", os.urandom(900_000)))]
    with endpoint.client() as client:
        answer = client.post("/files", params={"subdir": f"{folder.name}/new"}, files=files)
    assert answer.status_code == 201
    assert answer.json() == {"uploaded": [f"{folder.name}/new/é.txt", f"{folder.name}/new/b.bin"]}
    assert (folder / "new" / "é.txt").read_bytes() == b"one"
    assert (folder / "new" / "b.bin").stat().st_size == 900_000
    assert sorted(os.listdir(folder / "new")) == ["b.bin", "é.txt"]


def test_an_upload_over_the_limit_is_refused_and_leaves_nothing(endpoint: RunningEndpoint, folder: Path) -> None:
    files = [("files", ("small", b"x")), ("files", ("big", b"x" * 1_000_001)), ("files", ("more", b"x"))]
    with endpoint.client() as client:
        answer = client.post("/files", params={"subdir": folder.name}, files=files)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert os.listdir(folder) == []


@pytest.mark.parametrize("cut", [10, 100, 160])
def test_a_broken_upload_is_refused_and_leaves_nothing(endpoint: RunningEndpoint, folder: Path, cut: int) -> None:
    body = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n' + b"x" * 200 + b"\r\n--b--\r\n"
    with endpoint.client() as client:
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = client.post("/files", params={"subdir": folder.name}, content=body[:cut], headers=headers)
        assert answer.status_code == 422
        assert client.post("/files", params={"subdir": folder.name}, content=b"{}").status_code == 422
    assert os.listdir(folder) == []


@pytest.mark.parametrize("path", ["/etc/hostname", "../x", "link/hostname", "/tmp", "a/../../x"])
def test_a_path_out_of_the_workspace_is_forbidden_on_every_route(endpoint: RunningEndpoint, path: str) -> None:
    if not (endpoint.workspace / "link").is_symlink():
        (endpoint.workspace / "link").symlink_to("/etc")
    with endpoint.client() as client:
        answers = [client.get(f"/files{route}", params={"path": path}) for route in ("", "/content", "/download")]
        answers.append(client.post("/files", params={"subdir": path}, files=[("files", ("x", b"x"))]))
    if path.startswith("a/"):
        assert {answer.status_code for answer in answers} <= {403, 404}
    else:
        assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(403, "path_forbidden")] * 4
    assert not (endpoint.workspace / "a").exists()


def test_what_is_not_there_is_not_found(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client:
        answers = [client.get(f"/files{route}", params={"path": "no/where"}) for route in ("", "/content", "/download")]
        assert client.get("/files/content").status_code == 422
    assert [answer.status_code for answer in answers] == [404] * 3
