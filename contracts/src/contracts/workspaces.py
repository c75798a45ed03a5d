"""REST contract of the sandbox manager, second part: the files of a session as a whole.

| call | body | answer |
|---|---|---|
| GET /workspaces/{session_id}/snapshots?user_id= | | `SnapshotList`, newest first |
| POST /workspaces/{session_id}/snapshots?user_id= | `TakeSnapshot` | 201 `Snapshot`; 409 none, too large, too many |
| POST /workspaces/{session_id}/snapshots/{id}/restore?user_id= | | 200 `Snapshot`; the session's sandbox ends |
| DELETE /workspaces/{session_id}/snapshots/{id}?user_id= | | 204, also when it does not exist |
| DELETE /workspaces/{session_id}?user_id= | | 204: its sandbox ends, its files and snapshots go, after the delay set |

A call while another one goes on answers 409 `workspace_busy` (retryable). A workspace of another user is 404.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field


class TakeSnapshot(BaseModel):
    """Store the files as they are now."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100)


class Snapshot(BaseModel):
    """`bytes` is the size of the archive, `content_bytes` that of the files in it."""

    id: str
    name: str
    created_at: datetime
    bytes: int
    content_bytes: int
    files: int


class SnapshotList(BaseModel):
    """Answer of the list call, with the limit on their number."""

    items: list[Snapshot]
    max_count: int
