"""What an agent has and is told on a remote host."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from backend_api.agent.capabilities.sandbox import SANDBOX
from backend_api.agent.capability import ALLOW, Deny, ProposedCall
from backend_api.agent.options import Options
from backend_api.kit.ids import SessionId, UserId
from backend_api.previews.tools import port_tools
from backend_api.sandboxes.tools import manifest_tools
from backend_api.targets.capability import PORT_TOOLS, TOOLS, target_capability
from backend_api.targets.domain import HOST_PREFIX, SshHost, Target, TargetId
from backend_api.targets.ssh.hosts import TOOLS as ON_HOSTS
from support.scripted import ANY

USER, SESSION = UserId("u"), SessionId("s")
AT = datetime(2026, 1, 1, tzinfo=UTC)
HOST = Target(
    id=TargetId(f"{HOST_PREFIX}1"),
    user_id=USER,
    name="Build",
    ssh=SshHost(host="build.example.org", username="anna", folder="~/builds"),
    created_at=AT,
    updated_at=AT,
)
SPECS = manifest_tools()


async def _target(session_id: SessionId) -> Target | None:
    return HOST if session_id == SESSION else None


CAPABILITY = target_capability(_target)


async def _setup(session: str):
    assert CAPABILITY.load_of_session is not None
    return replace(ANY, tools=SPECS, loaded={"target": await CAPABILITY.load_of_session(USER, SessionId(session))})


async def test_shells_files_and_ports_alone_are_offered_there() -> None:
    assert CAPABILITY.offers is not None
    specs = [*SPECS, *(tool.spec for tool in port_tools())]
    assert {spec.name for spec in CAPABILITY.offers(await _setup(SESSION), specs)} == TOOLS | PORT_TOOLS
    assert list(CAPABILITY.offers(await _setup("another"), specs)) == specs


async def test_other_tools_are_denied_with_the_reason() -> None:
    assert CAPABILITY.gate is not None
    specs = {spec.name: spec for spec in SPECS}
    there = await _setup(SESSION)
    denied = CAPABILITY.gate(there, ProposedCall(tool=specs["browser_view"], arguments={}))
    assert isinstance(denied, Deny)
    assert "remote host" in denied.reason
    assert CAPABILITY.gate(there, ProposedCall(tool=specs["shell_exec"], arguments={})) is ALLOW
    assert CAPABILITY.gate(await _setup("another"), ProposedCall(tool=specs["browser_view"], arguments={})) is ALLOW


async def test_it_asks_by_default_there_alone() -> None:
    assert CAPABILITY.defaults is not None
    there, another = await _setup(SESSION), await _setup("another")
    assert CAPABILITY.defaults(there.loaded["target"]) == Options(enable_approval=True)
    assert CAPABILITY.defaults(another.loaded["target"]) == Options()


async def test_it_is_told_of_the_host_in_place_of_a_sandbox() -> None:
    assert SANDBOX.sections is not None
    (there,) = SANDBOX.sections(await _setup(SESSION))
    (another,) = SANDBOX.sections(await _setup("another"))
    assert "anna@build.example.org" in there
    assert "~/builds" in there
    assert "The workspace is /workspace" in another
    assert "The workspace is /workspace" not in there


def test_each_tool_takes_there_what_its_definition_says() -> None:
    specs = {spec.name: spec for spec in SPECS}
    assert set(ON_HOSTS) == TOOLS
    for name, tool in ON_HOSTS.items():
        ours: dict[str, Any] = tool.arguments.model_json_schema()
        theirs = specs[name].parameters
        assert set(ours["properties"]) == set(theirs["properties"]), name
        assert set(ours.get("required", [])) == set(theirs.get("required", [])), name
