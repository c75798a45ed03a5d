"""A sandbox that takes more than it may have: the place of its socket, bytes, files, memory and processes."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from support.intruder import enter
from support.sandboxes import client_at
from support.stack import Stack

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(params=["stack", "ordinary_stack"])
def any_stack(request: pytest.FixtureRequest) -> Stack:
    """Run by root, with cgroups; and by an ordinary user, without."""
    found: Stack = request.getfixturevalue(request.param)
    return found


IMPOSTOR = """
import os, selectors, socket, sys
taken = []
for folder in ("/run/door", "/run/sandbox", "/run", "/tmp"):
    path = folder + "/door.sock"
    try:
        if os.path.exists(path):
            os.unlink(path)
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        os.chmod(path, 0o777)
        server.listen()
        taken.append(server)
    except OSError:
        continue
if os.fork():
    sys.exit(0)
os.setsid()
looks = selectors.DefaultSelector()
for server in taken:
    looks.register(server, selectors.EVENT_READ)
while True:
    for key, _ in looks.select():
        connection, _ = key.fileobj.accept()
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 8\\r\\n\\r\\nimpostor")
        connection.close()
"""


async def test_nobody_inside_can_take_the_place_of_the_socket_a_sandbox_is_reached_by(any_stack: Stack) -> None:
    async with enter(any_stack, "impostor") as intruder:
        assert "exit=0" in await intruder.python(IMPOSTOR)
        minted = await intruder.manager.post(f"/sandboxes/{intruder.sandbox_id}/tokens", json={"scopes": ["exec"]})
        token = minted.raise_for_status().json()

        async with client_at(token["door"], {"Authorization": f"Bearer {token['token']}"}) as fresh:
            assert "impostor" not in (await fresh.get("/healthz")).text
        path = Path(token["door"].removeprefix("unix:"))
        manager = psutil.Process(any_stack.children()["manager"]).uids().effective
        assert [(one.stat().st_uid, one.stat().st_mode & 0o077) for one in (path.parent, path)] == [(manager, 0)] * 2
