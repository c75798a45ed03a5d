"""Writes the data folder of a former version, by running that version: `tests/data/former` was written so by eda5ecdd.

In a checkout of the commit whose data is wanted, with its environments and a built page, as root:

    PYTHONPATH=tests .venv/bin/python THIS_FILE FOLDER

So `support` and `backend_api` are that commit's. Its whole stack runs with real sandboxes and a model server that
answers by a script. In the end everything is killed at once, with a command and an answer under way. In FOLDER are then

    database.json    every collection of the gateway's database: documents and indexes, in MongoDB's extended JSON
    sandboxes.json   the same of the sandbox manager's database
    sandboxes.tar.gz its folder: workspaces, snapshots, and what it knew of live sandboxes
    told.json        what that version told of each conversation: to its user over the API, and to a model

The folder it ran in, the stack's name and the machine's stand there as `{folder}`, `{stack}` and `{host}`, and the key
pair that signs endpoint tokens is left out: `former_data.py` fills all of it in. The password of both users is
`PASSWORD`.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import platform
import sys
import tarfile
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import psutil
import pymongo
from bson import json_util
from pymongo.read_concern import ReadConcern

from backend_api.agent.events import StoredPayload
from backend_api.agent.thread import Thread
from backend_api.conversations.mongo.event_documents import read_events
from support.api_client import ApiClient, register
from support.model_server import Answer, Call, ModelServer
from support.servers import run_mongod
from support.stack import Stack, start_stack

PASSWORD = "correct horse battery"
GATEWAY, MANAGER = "agent", "agent_sandboxes"
"""Names of the databases."""
_OF_LIVE_SANDBOXES = ("identity.json", "state.json")
"""What a manager knows them by; the rest is of the machine they ran on."""
_JSON = json_util.JSONOptions(json_mode=json_util.JSONMode.RELAXED)
_SLEEPS = "echo begun >> count.txt && sleep 600"


async def _say(api: ApiClient, model: ModelServer, session: str, text: str, *answers: Answer, **extra: Any) -> None:
    model.answer(*answers)
    accepted = await api.send(session, text, **extra)
    await api.until(session, "run.finished", after=accepted["seq"])


def _tool(name: str, call_id: str, **arguments: Any) -> Call:
    return Call(name=name, id=call_id, arguments=json.dumps(arguments))


async def _works(api: ApiClient, model: ModelServer) -> None:
    """Thinking, calls beside each other, one long, one that fails, a long result, a picture, uploads, snapshots."""
    session = await api.new_session()
    both = (
        _tool("file_write", "w1", path="notes/plan.md", content="# Plan\n\n1. Look\n2. Write\n"),
        _tool("shell_exec", "s1", command="seq 1 5000"),
        _tool("file_read", "r1", path="not/there.txt"),
        _tool("file_write", "w2", path="long.txt", content="nine long\n" * 6_100),
    )
    await _say(
        api,
        model,
        session,
        "Write down a plan, and count.\nThen say what came of it.",
        Answer(thinking=("A plan ", "first."), texts=("I begin.",), calls=both),
        Answer(texts=("The plan stands in `notes/plan.md`. ", "One file was **not** there.")),
        client_message_id="sent-1",
    )
    files = [("files", ("表.csv", b"a,b\n1,2\n", "text/csv"))]
    await api.json("POST", f"/sessions/{session}/files", params={"subdir": "data"}, files=files, expect=201)
    await api.json("POST", f"/sessions/{session}/snapshots", json={"name": "With a plan"}, expect=201)
    looks = (
        _tool("browser_navigate", "b1", url="file:///workspace/notes/plan.md"),
        _tool("browser_screenshot", "b2"),
    )
    await _say(
        api,
        model,
        session,
        "Take the plan away, and show me.",
        Answer(texts=(), calls=(_tool("shell_exec", "s2", command="echo changed > notes/plan.md; ls notes"),)),
        Answer(texts=("Now I look.",), calls=looks),
        Answer(texts=("It is another one now.",)),
        attachments=["data/表.csv"],
    )
    await api.json("POST", f"/sessions/{session}/snapshots", json={"name": "Without"}, expect=201)
    await api.json("PATCH", f"/sessions/{session}", json={"title": "计划 and a count", "pinned": True})


async def _changes_models(api: ApiClient, model: ModelServer) -> None:
    """An answer in four parts, one that failed at the provider, another model, and files that were brought back."""
    session = await api.new_session(options={"max_turns": 7})
    cut = Answer(texts=("And so on ",), finish="length")
    await _say(api, model, session, "Tell me a long story.", cut, cut, cut, cut)
    await _say(api, model, session, "Go on.", Answer(status=400, message="the request is too odd"))
    await api.json("PATCH", f"/sessions/{session}", json={"model": "claude-opus-4-6"})
    writes = _tool("file_write", "w1", path="story.txt", content="Once upon a time.\n")
    await _say(
        api, model, session, "Write it down.", Answer(texts=("I do.",), calls=(writes,)), Answer(texts=("Done.",))
    )
    taken = await api.json("POST", f"/sessions/{session}/snapshots", json={"name": "Once"}, expect=201)
    await api.json("POST", f"/sessions/{session}/snapshots/{taken['id']}/restore")
    await api.json("PATCH", f"/sessions/{session}", json={"archived": True})


async def _is_stopped(api: ApiClient, model: ModelServer) -> None:
    """A person stops an answer, and goes on."""
    session = await api.new_session(title="Stopped")
    model.answer(Answer(thinking=("Long.",), texts=("This is cut", " here", "."), hang_after=8))
    accepted = await api.send(session, "Say something long.")
    await api.until(session, "message.delta", after=accepted["seq"])
    await api.json("POST", f"/sessions/{session}/stop", expect=202)
    await api.until(session, "run.finished", after=accepted["seq"])
    await _say(api, model, session, "Shorter, please.", Answer(texts=("Short.",)))


async def _is_at_work(api: ApiClient, model: ModelServer) -> None:
    """In the middle of a command, with a message the model has not read."""
    session = await api.new_session(title="In a command")
    model.answer(Answer(texts=("I wait.",), calls=(_tool("shell_exec", "s1", command=_SLEEPS),)))
    accepted = await api.send(session, "Wait ten minutes.")
    await api.until(session, "tool.called", after=accepted["seq"])
    await api.send(session, "Or five?")
    async with asyncio.timeout(60):
        while (await api.http.get(f"/sessions/{session}/files/download?path=count.txt")).status_code != 200:
            await asyncio.sleep(0.1)


async def _is_answering(api: ApiClient, model: ModelServer) -> None:
    session = await api.new_session(title="In an answer")
    model.answer(Answer(texts=("This will", " never end"), hang_after=4))
    accepted = await api.send(session, "你好")
    await api.until(session, "message.delta", after=accepted["seq"])


async def _logs_out(base_url: str, name: str) -> None:
    async with ApiClient(base_url) as anonymous:
        answer = await anonymous.json("POST", "/auth/login", json={"username": name, "password": PASSWORD})
    async with ApiClient(base_url, answer["access_token"]) as again:
        await again.json("POST", "/auth/logout", json={"refresh_token": answer["refresh_token"]}, expect=204)


async def _told(api: ApiClient) -> dict[str, Any]:
    """What the API says of a user's sessions, by their ids."""
    told: dict[str, Any] = {}
    for session in (await api.json("GET", "/sessions"))["items"]:
        path = f"/sessions/{session['id']}"
        events = await api.stored_events(session["id"])
        told[session["id"]] = {
            "session": session,
            "events": events,
            "bodies": {event["seq"]: await _body(api, path, event["seq"]) for event in events if event.get("body")},
            "snapshots": (await api.json("GET", f"{path}/snapshots"))["items"],
        }
    return told


async def _body(api: ApiClient, path: str, seq: int) -> list[str]:
    """What type it is said to be, and its digest."""
    answer = await api.http.get(f"{path}/events/{seq}/body")
    return [answer.headers["content-type"], hashlib.sha256(answer.content).hexdigest()]


def _end_at_once(stack: Stack) -> None:
    """As a machine that loses its power."""
    processes = stack.descendants()
    stack.process.kill()
    for process in processes:
        process.kill()
    psutil.wait_procs(processes, timeout=30)
    stack.process.wait(30)


async def _folded(uri: str, session: str, run: str) -> dict[str, Any]:
    """What a model is sent of a conversation."""
    async with pymongo.AsyncMongoClient[dict[str, Any]](uri, tz_aware=True) as client:
        database = client.get_database(GATEWAY, read_concern=ReadConcern("majority"))
        documents = await database["events"].find({"session_id": session}).sort("seq", 1).to_list()
        thread = Thread()
        take = getattr(thread, "take", None) or thread.apply
        for event, document in zip(await read_events(database, documents), documents, strict=True):
            take(event, document.get("output"))
    folded = thread.conversation(run)
    turns = [[type(turn).__name__, asdict(turn)] for turn in folded.turns]
    return {"run_id": run, "turns": turns, "next_turn": folded.next_turn, "is_answered": folded.is_answered}


def _dumped(uri: str, name: str) -> dict[str, Any]:
    with pymongo.MongoClient[dict[str, Any]](uri, tz_aware=True) as client:
        database = client[name]
        return {
            collection: {
                "indexes": [dict(index) for index in database[collection].list_indexes()],
                "documents": [] if collection == "door_keys" else list(database[collection].find().sort("_id", 1)),
            }
            for collection in sorted(database.list_collection_names())
        }


def _hide(text: str, data: Path) -> str:
    stack = "local-" + hashlib.sha256(str(data).encode()).hexdigest()[:12]
    host = platform.node()
    hidden = ((str(data), "{folder}"), (stack, "{stack}"), (f"@{host}", "@{host}"), (f'"{host}-', '"{host}-'))
    for word, placeholder in hidden:
        text = text.replace(word, placeholder)
    return text


def _write(path: Path, content: Any, data: Path) -> None:
    text = json_util.dumps(content, json_options=_JSON, ensure_ascii=False, indent=1)
    path.write_text(_hide(text, data) + "\n", encoding="utf-8")


def _pack(path: Path, data: Path) -> None:
    with tarfile.open(path, "w:gz", compresslevel=9) as archive:
        for file in sorted((data / "sandboxes").rglob("*")):
            name = file.relative_to(data)
            is_live = len(name.parts) > 3 and name.parts[1] == "live"
            if name.suffix == ".lock" or (is_live and name.name not in _OF_LIVE_SANDBOXES):
                continue
            entry = archive.gettarinfo(file, str(name))
            entry.uname = entry.gname = ""
            content = file.read_bytes() if file.is_file() else b""
            if is_live:
                content = _hide(content.decode(), data).encode()
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def _check(told: dict[str, Any], database: dict[str, Any]) -> None:
    """Nothing was stored after it was told, and every type of event was."""
    events = [(one["session_id"], one["seq"], one["type"]) for one in database["events"]["documents"]]
    known = [(session, one["seq"], one["type"]) for session, it in told.items() for one in it["events"]]
    assert sorted(events) == sorted(known)
    wanted = {payload.__dataclass_fields__["type"].default for payload in get_args(StoredPayload)}
    assert {kind for _, _, kind in events} == wanted


async def _write_all(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="former-") as place, run_mongod(Path(place) / "mongod") as mongo:
        data = Path(place).resolve() / "data"
        async with ModelServer() as model:
            stack = start_stack(
                data,
                AUTH_MODE="password",
                MONGO_URI=mongo.uri,
                LLM_PROVIDER="anthropic",
                ANTHROPIC_API_KEY="none",
                ANTHROPIC_BASE_URL=model.url,
                MODELS="claude-opus-4-6",
                LLM_MAX_RETRIES="0",
            )
            try:
                anna, ben = [await register(stack.base_url, name, PASSWORD) for name in ("anna", "ben")]
                for play in (_works, _changes_models, _is_stopped, _is_at_work):
                    await play(anna, model)
                await _logs_out(stack.base_url, "ben")
                await _is_answering(ben, model)
                told = await _told(anna) | await _told(ben)
            finally:
                _end_at_once(stack)
            await asyncio.gather(anna.http.aclose(), ben.http.aclose())
        for session, known in told.items():
            run = [event["run_id"] for event in known["events"] if event["run_id"]][-1]
            known["model_reads"] = await _folded(mongo.uri, session, run)
        gateway = _dumped(mongo.uri, GATEWAY)
        _check(told, gateway)
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "told.json", told, data)
        _write(folder / "database.json", gateway, data)
        _write(folder / "sandboxes.json", _dumped(mongo.uri, MANAGER), data)
        _pack(folder / "sandboxes.tar.gz", data)


if __name__ == "__main__":
    asyncio.run(_write_all(Path(sys.argv[1]).resolve()))
