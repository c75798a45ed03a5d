"""`python -m support.fake_manager`: a manager on a real database, with sandboxes in memory."""

from __future__ import annotations

import sys
from contextlib import AbstractAsyncContextManager, nullcontext

from sandbox_manager.bootstrap.serve import serve
from sandbox_manager.bootstrap.settings import Settings
from sandbox_manager.bootstrap.wiring import wire_over
from sandbox_manager.interfaces.http.use_cases import UseCases
from support.memory_manager.runtime import FakeRuntime


def wire_fake(settings: Settings) -> AbstractAsyncContextManager[UseCases]:
    return wire_over(settings, nullcontext(FakeRuntime()))


if __name__ == "__main__":
    sys.exit(serve(Settings(), wire_fake))
