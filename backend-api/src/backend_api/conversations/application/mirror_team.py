"""The team of a session's run as files in its workspace, for programs that look there. They are never read back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from backend_api.agent.events import TeamMessage
from backend_api.agent.team import LEAD, Team
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.ports import Upload

FOLDER = ".team"


@dataclass(frozen=True, slots=True)
class MirrorTeam:
    """Writes the members to `.team/config.json`, and the last messages to each to `.team/inbox_{name}.jsonl`, one a
    line. See `AgentFiles`: files that can't be written are written with a later change, or before a later call that
    finds them due."""

    files: AgentFiles
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    async def __call__(self, session_id: str, user_id: str, team: Team) -> None:
        """Writes all files if the team has changed since."""
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        async with lock:
            version = team.version
            if team.members and team.mirrored != version and await self._write(session_id, user_id, team):
                team.mirrored = version

    async def _write(self, session_id: str, user_id: str, team: Team) -> bool:
        members = [
            {"name": one.name, "role": one.role, "status": one.status, "agent_id": one.agent_id}
            for one in team.members.values()
        ]
        config = json.dumps({"lead": LEAD, "members": members}, ensure_ascii=False, indent=2)
        inboxes = {name: team.inboxes.get(name, []) for name in (LEAD, *team.members)}
        uploads = [
            _file("config.json", f"{config}\n"),
            *(_file(f"inbox_{name}.jsonl", "".join(map(_line, messages))) for name, messages in inboxes.items()),
        ]
        return await self.files.write_all(SessionId(session_id), UserId(user_id), FOLDER, uploads)


def _line(message: TeamMessage) -> str:
    fields = {
        "id": message.message_id,
        "from": message.sender,
        "type": message.msg_type,
        "request_id": message.request_id,
        "approve": message.approve,
        "content": message.content,
    }
    told = {name: value for name, value in fields.items() if value is not None}
    return f"{json.dumps(told, ensure_ascii=False)}\n"


def _file(name: str, text: str) -> Upload:
    return Upload(name=name, chunks=_chunks(text))


async def _chunks(text: str) -> AsyncIterator[bytes]:
    yield text.encode("utf-8", "replace")
