"""An example of each body that a request may have, for the documentation of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]

_MESSAGE: Document = {"text": "Summarise report.pdf in five lines.", "client_message_id": "m-1"}
_SCHEDULE: Document = {
    "text": "Read my inbox folder and write what is new to summary.md.",
    "cron": "0 9 * * 1-5",
    "timezone": "Europe/Berlin",
}
_DENIED: Document = {"decision": "deny", "feedback": "Leave that file as it is."}
_CREDENTIALS: Document = {"username": "anna", "password": "a long pass phrase"}

EXAMPLES: Mapping[str, Document] = {
    "POST /api/sessions": {"title": "Quarterly report", "preset": "research", "options": {"max_turns": 50}},
    "PATCH /api/sessions/{session_id}": {"title": "Quarterly report", "pinned": True},
    "POST /api/sessions/{session_id}/read": {"seq": 42},
    "POST /api/sessions/{session_id}/messages": _MESSAGE,
    "POST /api/sessions/{session_id}/runs": _MESSAGE,
    "POST /api/sessions/{session_id}/runs/stream": _MESSAGE,
    "POST /api/sessions/{session_id}/compact": {"focus": "What was decided, and why."},
    "POST /api/sessions/{session_id}/stop": {"run_id": "3f6c0e0a9d5b4c7e8a1b2c3d4e5f6071"},
    "POST /api/sessions/{session_id}/questions/{question_id}": {"answers": {"format": "As a table"}},
    "POST /api/sessions/{session_id}/approvals/{approval_id}": _DENIED,
    "POST /api/sessions/{session_id}/plans/{plan_id}": {"decision": "reject", "feedback": "Write the tests first."},
    "POST /api/sessions/{session_id}/files/link": {"path": "report.pdf"},
    "POST /api/sessions/{session_id}/messages/{message_id}/edit": {"text": "In ten lines, please.", "run": True},
    "PUT /api/sessions/{session_id}/path": {"message_id": "6f1c0a52"},
    "POST /api/sessions/{session_id}/branch": {"message_id": "6f1c0a52"},
    "POST /api/sessions/{session_id}/snapshots": {"name": "Before the clean-up"},
    "POST /api/sessions/{session_id}/vnc/ticket": {},
    "PUT /api/sessions/{session_id}/files/text": {
        "path": "notes.md",
        "content": "# Notes",
        "if_match": "1b4f0e9851971998e732078544c96b36",
    },
    "POST /api/sessions/{session_id}/files/move": {"source": "notes.md", "destination": "old/notes.md"},
    "POST /api/sessions/{session_id}/files/folder": {"path": "old"},
    "POST /api/sessions/{session_id}/terminal/ticket": {"terminal": "main"},
    "POST /api/sessions/{session_id}/ports": {"port": 3000},
    "POST /api/sessions/{session_id}/resources": {
        "title": "Attention is all you need",
        "kind": "paper",
        "link": "https://doi.org/10.48550/arxiv.1706.03762",
    },
    "PATCH /api/sessions/{session_id}/resources/{resource_id}": {"title": "Attention is all you need", "version": 2},
    "POST /api/sessions/{session_id}/queue": {"text": "Then write the summary.", "client_id": "a-name-of-your-own"},
    "PATCH /api/sessions/{session_id}/queue/{queued_id}": {"text": "Then write a short summary.", "version": 1},
    "POST /api/sessions/{session_id}/queue/order": {"ids": ["the-second", "the-first"]},
    "POST /api/sessions/{session_id}/tasks": {"subject": "Read the two newest papers", "priority": "high"},
    "PATCH /api/sessions/{session_id}/tasks/{task_id}": {"priority": "low", "status": "completed"},
    "POST /api/auth/register": _CREDENTIALS,
    "POST /api/auth/login": _CREDENTIALS,
    "POST /api/auth/refresh": {"refresh_token": "the one that the log-in gave"},
    "POST /api/auth/password": {"old_password": "a long pass phrase", "new_password": "a longer pass phrase"},
    "POST /api/auth/logout": {"refresh_token": "the one that the log-in gave"},
    "POST /api/schedules": _SCHEDULE,
    "PATCH /api/schedules/{schedule_id}": {"cron": "30 8 * * 1", "paused": False},
    "POST /api/settings/models/test": {"provider": "openai", "key": "sk-...", "model": "gpt-5"},
    "POST /api/settings/models/available": {"provider": "openai", "key": "sk-..."},
    "POST /api/settings/search/test": {"provider": "tavily", "key": "tvly-..."},
    "PUT /api/settings/{category}/{key}": {"value": "gpt-5"},
    "POST /api/sessions/{session_id}/control": {"client": "9f2c51d0", "holder": "Anna"},
    "PUT /api/sessions/{session_id}/control": {"client": "9f2c51d0"},
    "DELETE /api/sessions/{session_id}/control": {"client": "9f2c51d0", "note": "I have logged in. Go on."},
    "POST /api/sessions/{session_id}/shares": {"mode": "snapshot", "include": ["files"]},
    "POST /api/shared/{share_id}/unlock": {"passphrase": "green tea at noon"},
    "POST /api/targets": {"name": "Build machine", "host": "build.example.org", "username": "anna", "folder": "~/work"},
    "PATCH /api/targets/{target_id}": {"confirmed_fingerprint": "SHA256:ZAFtAKqF7YLLTz2rz0zpQRyOXp0R1AGXs5H5RJ2PW+E"},
    "POST /api/folders": {"name": "Tax return", "instructions": "Answer in German."},
    "PATCH /api/folders/{folder_id}": {"name": "Tax return 2026"},
    "PUT /api/sessions/{session_id}/folder": {"folder_id": "f-3c1d"},
    "POST /api/skills": {"url": "https://example.org/skills/invoices.zip"},
    "POST /api/corpus/sources/{source}/test": {"key": "…"},
    "POST /api/corpus": {"id": "10.1038/nature14539", "tags": ["reviews"]},
    "PATCH /api/corpus/{record_id}": {"notes": "The figure on page 4 is what we need.", "tags": ["reviews", "read"]},
    "POST /api/writing": {"title": "A review of cathodes", "kind": "paper", "style": "ieee", "language": "en"},
    "PATCH /api/writing/{project_id}": {"style": "nature", "authors": ["Anna Weber"]},
    "PUT /api/writing/{project_id}/outline": {
        "outline": [{"id": "s1", "title": "Introduction"}, {"title": "Method", "brief": "How it was measured."}]
    },
    "PUT /api/writing/{project_id}/sections/{section_id}": {"text": "Cathodes are old [@volta1800pile]."},
    "POST /api/writing/{project_id}/sections/{section_id}/suggestion": {
        "text": "Cathodes are very old [@volta1800pile].",
        "instruction": "Say how old.",
    },
    "POST /api/writing/{project_id}/sections/{section_id}/suggestion/{suggestion_id}": {},
    "POST /api/writing/{project_id}/bibliography": {"record_id": "rec_3f6c0e0a9d5b4c7e8a1b2c3d4e5f6071"},
    "PUT /api/memories/{path}": {"content": "Answers in British English, and in short."},
    "PUT /api/agents/{name}": {
        "description": "Checks numbers of a report against its sources.",
        "prompt": "Check each number against its source, and list those that differ.",
        "tools": ["file_read", "web_*"],
        "max_calls": 40,
        "max_minutes": 10,
    },
    "PUT /api/mcp/{server}": {
        "url": "https://wiki.example.org/mcp",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
        "env": {"TOKEN": "the key that the server gave"},
    },
}
"""The examples by method and path."""


def add_examples(document: Document) -> Document:
    """Completes a document in place, and sorts its paths by name. File uploads have no example."""
    document["paths"] = dict(sorted(document.get("paths", {}).items()))
    for path, operations in document.get("paths", {}).items():
        for method, operation in operations.items():
            content: Document = operation.get("requestBody", {}).get("content", {})
            example = EXAMPLES.get(f"{method.upper()} {path}")
            if example is not None and "application/json" in content:
                content["application/json"]["example"] = example
    return document
