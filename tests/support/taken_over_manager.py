"""`python -m support.taken_over_manager`: a manager whose process sandboxes have taken over their tool API."""

from __future__ import annotations

import sys
from dataclasses import replace

from sandbox_manager.bootstrap.serve import serve
from sandbox_manager.bootstrap.settings import Settings
from support.sources import ROOT

HOSTILE = ROOT / "tests" / "support" / "hostile_tool_api"


def main() -> int:
    """Theirs stands before the real one."""
    settings = Settings()
    real = settings.tool_api
    return serve(Settings(replace(real, python_path=(HOSTILE, *real.python_path))))


if __name__ == "__main__":
    sys.exit(main())
