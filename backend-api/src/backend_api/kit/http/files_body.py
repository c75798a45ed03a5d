"""The body of routes that take files as they come, which FastAPI can't describe by itself."""

from __future__ import annotations

from typing import Any

FILES_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            }
        },
    }
}
"""`openapi_extra` of such a route: one or more parts named `files`."""
