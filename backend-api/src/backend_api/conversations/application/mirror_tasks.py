"""The tasks of a session as files in its workspace, for programs that look there. They are never read back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from backend_api.agent.tasks import TaskBoard, as_json
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.ports import Upload

FOLDER = ".tasks"
WITHIN_S = 5.0
"""Seconds a change may wait for its files."""
MAX_FILES = 100
"""The most files in one upload; the rest is written with the next change."""


@dataclass(frozen=True, slots=True)
class MirrorTasks:
    """Writes `.tasks/task_{id}.json` for each task that changed, also for deleted ones. See `AgentFiles`: files that
    can't be written are written with a later change, or before a later call that finds them due."""

    files: AgentFiles
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    async def __call__(self, session_id: str, user_id: str, board: TaskBoard) -> None:
        """Writes the tasks as they are known now."""
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        async with lock:
            await self._write(session_id, user_id, board)

    async def _write(self, session_id: str, user_id: str, board: TaskBoard) -> None:
        tasks, mirrored = board.known().tasks, board.mirrored
        present = {task.id: task for task in tasks}
        changed = {task.id: as_json(task) for task in tasks if mirrored.get(task.id) != task}
        gone = {task.id: as_json(task) | {"status": "deleted"} for task in mirrored.values() if task.id not in present}
        files = dict([*changed.items(), *gone.items()][:MAX_FILES])
        uploads = [_file(task_id, fields) for task_id, fields in files.items()]
        if uploads and await self.files.write_all(SessionId(session_id), UserId(user_id), FOLDER, uploads):
            left = {task_id: task for task_id, task in mirrored.items() if task_id not in files}
            board.mirrored = left | {task_id: present[task_id] for task_id in files if task_id in present}


def _file(task_id: str, fields: Mapping[str, object]) -> Upload:
    return Upload(name=f"task_{task_id}.json", chunks=_chunks(json.dumps(fields, ensure_ascii=False, indent=2)))


async def _chunks(text: str) -> AsyncIterator[bytes]:
    yield text.encode("utf-8", "replace") + b"\n"
