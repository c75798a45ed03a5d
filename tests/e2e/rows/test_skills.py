"""Skills in real sandboxes: told by name, read, run."""

from __future__ import annotations

import io
import zipfile

import pytest

from support.api_client import ApiClient, Json
from support.model_server import Answer
from support.scripted_stack import Scripted, call, calls, results, said_in

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAID = Answer(texts=("Done.",))


def knots(name: str = "knots", text: str = "Run tie.py twice.") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(f"{name}/SKILL.md", f"---\nname: {name}\ndescription: How to tie {name}.\n---\n{text}")
        archive.writestr(f"{name}/scripts/tie.py", "import sys\nprint('tied', *sys.argv[1:])\n")
    return content.getvalue()


async def add(api: ApiClient, archive: bytes) -> Json:
    answer = await api.http.post("/skills", files={"archive": ("a.zip", archive)})
    assert answer.status_code == 201, answer.text
    return answer.json()


def published(scripted: Scripted, path: str, archive: bytes) -> str:
    """Its address."""
    scripted.pages.answers[path] = b"200 OK\r\nContent-Type: application/zip\r\n\r\n" + archive
    return scripted.pages.url(path)


async def test_a_skill_is_told_by_its_name_or_installed_read_and_its_programs_run_also_in_a_rebuilt_computer(
    scripted: Scripted, api: ApiClient
) -> None:
    await add(api, knots())
    url, bad = published(scripted, "/nets.zip", knots("nets")), published(scripted, "/up.zip", knots("../up"))
    session = await api.new_session(title="named")
    tie = [f"python3 /skills/{name}/scripts/tie.py {name} now" for name in ("knots", "nets")]
    run = call("shell_exec", command="; ".join(["touch kept", *tie, "touch /skills/knots/new", "ls -1 /skills"]))
    scripted.answer(
        calls(call("install_skill", name="up", url=bad), call("install_skill", name="nets", url=url)),
        calls(call("read_skill", skill="knots"), call("read_skill", skill="nets"), run),
        SAID,
    )
    refused, installed, read, _, ran = await results(api, session, await api.ask(session, f"get nets from {url}"))
    assert "The skill was not installed." in refused
    assert "Installed nets (2 files" in installed
    assert "Run tie.py twice." in read
    assert "tied knots now\ntied nets now" in ran
    assert "Permission denied" in ran
    assert ran.strip().endswith("knots\nnets")
    first = said_in(scripted.model.requests[0])
    assert "- knots: How to tie knots." in first
    assert "- nets" not in first
    assert "Run tie.py twice." not in first
    kept = await api.json("POST", f"/sessions/{session}/snapshots", json={"name": "one"}, expect=201)
    await api.json("POST", f"/sessions/{session}/snapshots/{kept['id']}/restore")
    scripted.answer(calls(run), SAID)
    [again] = await results(api, session, await api.ask(session, "tie them again"))
    assert "was restarted since the last call" in again
    assert "tied knots now\ntied nets now" in again
    assert "- nets: How to tie nets." in said_in(scripted.last())
    assert (await api.json("GET", "/skills/nets"))["source"] == url
    await api.http.delete("/skills/knots")
    await api.http.delete("/skills/nets")
