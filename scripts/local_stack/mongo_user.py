"""The one user of our own mongod, made while nobody else can reach it.

A server with access control lets whoever comes first over loopback make the first user. So the user is made by a server
that listens on nothing but a socket in a folder of ours; the real one starts with that exception off
(`enableLocalhostAuthBypass=false`) and asks everybody for a password.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from pymongo import AsyncMongoClient
from pymongo.errors import OperationFailure, PyMongoError

from local_stack.child import Child, ChildSpec
from local_stack.errors import StackError
from local_stack.log_file import LogFile

NAME = "stack"
_USER_EXISTS = 51003
_READY_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MongoUser:
    """Makes the user known to the data in `data`, and the key file its server starts with."""

    mongod: Path
    data: Path
    key_file: Path
    password: str
    environ: Mapping[str, str]
    logs: Path

    async def ensure(self) -> None:
        """Quick once it was done for this data and password. Raises `StackError`."""
        self._write_key_file()
        mark = self.data / "user.sha256"
        made = hashlib.sha256(self.password.encode()).hexdigest()
        if mark.is_file() and mark.read_text() == made:
            return
        # A folder of its own: a socket's path has room for 107 bytes, and ours may be anywhere.
        with tempfile.TemporaryDirectory(prefix="mongod-") as folder:
            await self._make(Path(folder) / "mongod.sock")
        mark.write_text(made)

    def _write_key_file(self) -> None:
        # Members of a set prove themselves with it; this set has one, and no start with access control without it.
        key = hashlib.sha256(f"key file {self.password}".encode()).hexdigest()
        if self.key_file.is_file() and self.key_file.read_text() == key:
            return
        self.key_file.unlink(missing_ok=True)
        descriptor = os.open(self.key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(key)

    async def _make(self, socket: Path) -> None:
        async def answers() -> bool:
            return socket.exists()

        log = LogFile("mongod-user", self.logs)
        options = ("--dbpath", str(self.data), "--bind_ip", str(socket), "--filePermissions", "0700")
        spec = ChildSpec(
            name="mongod-user",
            command=(str(self.mongod), *options, "--setParameter", "diagnosticDataCollectionEnabled=false"),
            environ=self.environ,
            working_dir=self.data,
            is_ready=answers,
            stop_within=30,
        )
        child = await Child.start_process(spec, log)
        try:
            async with asyncio.timeout(_READY_S):
                while not await self._create(f"mongodb://{quote_plus(str(socket))}/?directConnection=true"):
                    if child.has_ended:
                        await child.ended()
                        raise StackError(_said(log))
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise StackError(_said(log)) from None
        finally:
            await child.stop_process()
            log.close()

    async def _create(self, uri: str) -> bool:
        client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(uri, serverSelectionTimeoutMS=1000)
        async with client:
            with contextlib.suppress(PyMongoError):
                try:
                    await client.admin.command("createUser", NAME, pwd=self.password, roles=["root"])
                except OperationFailure as error:
                    if error.code != _USER_EXISTS:
                        raise
                    await client.admin.command("updateUser", NAME, pwd=self.password, roles=["root"])
                return True
        return False


def _said(log: LogFile) -> str:
    lines = "".join(f"\n    {line[:400]}" for line in list(log.tail)[-8:])
    return f"mongod could not be given its user. Its last lines ({log.path}):{lines}"
