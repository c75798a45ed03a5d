"""What servers say of a session that they forgot is told apart from what they hand on after they acted."""

from __future__ import annotations

import json
import time

import pytest

from backend_api.mcp.client.lost_sessions import session_loss


def rpc(message: str, code: int = -32000) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, ""),
        (404, "<h1>Not here</h1>"),
        (404, "404 page not found"),
        (404, rpc("Session not found", -32001)),
        (404, rpc("Not Found: Session has been terminated", -32600)),
        (404, rpc("Not Found: Invalid or expired session ID", -32600)),
        (404, rpc("Session not found or has expired.")),
        (404, rpc("Session has expired")),
        (404, '{"message": "Session not found: 0b3f1c9e-5d0e-4b9f-8a55-3c1d"}'),
        (404, '{"error": "MCP session not found"}'),
        (400, rpc("Bad Request: No valid session ID provided")),
        (400, rpc("Bad Request: Missing session ID", -32600)),
        (400, rpc("Bad Request: Server not initialized")),
        (400, rpc("Bad Request: Mcp-Session-Id header is required")),
        (400, "Invalid session ID"),
        (400, "Invalid or missing session ID"),
        (400, "Session ID required in mcp-session-id header"),
        (400, "Session 0b3f1c9e-5d0e-4b9f not found"),
    ],
)
def test_a_session_is_forgotten_where_nothing_else_can_be_meant(status: int, body: str) -> None:
    assert session_loss(status, body.encode()) == "forgotten"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, '{"error": "Order 17 was placed, but the browser session is closed now"}'),
        (400, rpc("transfer done; checkout session expired")),
        (400, rpc("Session expired")),
        (410, '{"error": "The voucher was redeemed; it is gone now"}'),
        (410, ""),
        (404, '{"error": "mail sent; recipient folder not found"}'),
        (404, rpc("mail sent; session not found")),
        (404, "[1]"),
    ],
)
def test_what_may_be_of_something_behind_the_server_leaves_it_in_doubt(status: int, body: str) -> None:
    assert session_loss(status, body.encode()) == "doubtful"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, rpc("There is no such method.", -32601)),
        (400, rpc("A session id is required as an argument.", -32602)),
        (400, rpc("The arguments are wrong.")),
        (400, "no"),
        (500, "Session not found"),
        (401, ""),
    ],
)
def test_other_refusals_say_nothing_of_a_session(status: int, body: str) -> None:
    assert session_loss(status, body.encode()) is None


def test_a_long_answer_takes_no_long_look() -> None:
    began = time.process_time()
    for body in ("[" * 100_000, "session " * 100_000, "session" + " " * 100_000, rpc("mcp-" * 100_000)):
        session_loss(400, body.encode())
    assert time.process_time() - began < 5
