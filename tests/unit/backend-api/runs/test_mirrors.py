"""Tasks and team as files of the workspace: there as they are by now before any call that could read them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from backend_api.agent.capability import Setup
from backend_api.agent.tool import Done, Tool, ToolCall, ToolSpec
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.conversations.application.mirror_tasks import MirrorTasks
from backend_api.conversations.application.mirror_team import MirrorTeam
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.tools import SandboxToolSource
from support.memory.sandboxes import MemorySandboxes, MemoryWorkspace
from support.stage import Stage, worker_for, working
from support.teams import Played, TeamBox, does, says, spawns

READ = ToolSpec(name="read_all", description="", parameters={}, phrase="")
Files = dict[str, str]


class Computer(TeamBox):
    """A team's tools, and one of the sandbox that keeps what stands in the workspace as it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.sandboxes, self.workspace = MemorySandboxes(), MemoryWorkspace()
        self.seen: list[Files] = []
        self._source = SandboxToolSource([READ], self.sandboxes, self)

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        return [*await super().tools(setup), *await self._source.tools(setup)]

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        files = self.workspace.files.get(call.session_id, {})
        self.seen.append({name: content.decode() for name, content in files.items()})
        return Done(success=True, output="read")


async def play(*lead: Sequence[object]) -> list[Files]:
    """What each call of the sandbox found."""
    stage, computer = Stage(), Computer()
    worker = worker_for(stage, Played(lead=lead), computer)
    files = AgentFiles(computer.sandboxes, computer.workspace)
    worker.services = replace(worker.services, mirror_tasks=MirrorTasks(files), mirror_team=MirrorTeam(files))
    session = await stage.open_session(title="named", enable_teams=True)
    async with working(worker):
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    return computer.seen


async def test_the_first_call_that_starts_the_computer_finds_the_team() -> None:
    (files,) = await play(spawns("amy"), does("read_all"), says("Done."))
    members = json.loads(files[".team/config.json"])["members"]
    assert [(one["name"], one["role"]) for one in members] == [("amy", "helps")]
    assert {".team/inbox_amy.jsonl", ".team/inbox_lead.jsonl"} <= {*files}


async def test_each_call_finds_the_team_and_the_inboxes_as_of_the_call_before() -> None:
    told = does("send_message", to="amy", content="Mind the cat.")
    first, second, third = await play(
        spawns("amy"), does("read_all"), told, does("read_all"), spawns("bob"), does("read_all"), says("Done.")
    )
    assert first[".team/inbox_amy.jsonl"] == ""
    assert json.loads(second[".team/inbox_amy.jsonl"])["content"] == "Mind the cat."
    assert [one["name"] for one in json.loads(third[".team/config.json"])["members"]] == ["amy", "bob"]


async def test_the_first_call_that_starts_the_computer_finds_the_tasks() -> None:
    (files,) = await play(does("task_create", subject="Dig"), does("read_all"), says("Done."))
    assert json.loads(files[".tasks/task_1.json"])["subject"] == "Dig"
    assert not [name for name in files if name.startswith(".team")], "there is no team"
