"""What tests of all features together know of what the agent remembers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend_api.agent.capability import Capabilities, Capability
from backend_api.agent.conversation import Conversation
from backend_api.kit.ids import UserId
from backend_api.memories.capability import memories_capability
from backend_api.memories.domain import MemoryFile
from backend_api.memories.mongo import MongoMemories
from backend_api.memories.tools import memory_tools
from support.of_modules import OfModule
from support.route_rules import USER, Kind, Rule
from support.scripted import ANY


async def _none(user_id: UserId) -> list[MemoryFile]:
    del user_id
    return []


async def _stored(user_id: UserId) -> list[MemoryFile]:
    return (await MongoMemories().get(user_id)).files


async def _keep(user_id: UserId) -> None:
    store = MongoMemories()
    assert await store.replace(replace(await store.get(user_id), texts={"tea.md": "Likes tea"}))


def _show(table: Sequence[Capability]) -> None:
    tools = [spec for spec in (one.spec for one in memory_tools(None)) if spec.name == "memory_view"]
    setup = replace(ANY, tools=tools, loaded={"memories": [MemoryFile(path="tea.md", content="Likes tea")]})
    told = Capabilities(table, setup)
    assert "memories of this person that last" in told.system_prompt()
    conversation = Conversation(turns=[], seen_seq=1, next_turn=1, is_answered=False)
    assert any("/memories/tea.md (9 bytes): Likes tea" in note.text for note in told.notes(conversation))


OF_MODULE = OfModule(
    capability=memories_capability(_none),
    stored=memories_capability(_stored),
    much=[MemoryFile(path=f"note-{number}.md", content="What they like. " * 10) for number in range(60)],
    keep=_keep,
    show=_show,
    routes={
        "GET /api/memories": USER,
        "GET /api/memories/{path:path}": USER,
        "PUT /api/memories/{path:path}": Rule(kind=Kind.USER, json={"content": "Likes otters."}),
        "DELETE /api/memories/{path:path}": USER,
    },
    looking=["memory_view"],
    without_computer=[tool.spec.name for tool in memory_tools(None)],
)
