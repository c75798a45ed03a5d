"""Takes capabilities out of the deployment's table, for a look at which tests fail then; a plugin of pytest:

    PYTHONPATH=tests WITHOUT=budget python -m pytest -p support.without_capability tests/unit/backend-api/runs

Several names are separated by commas. Gateways, workers and stacks that a test starts as processes lack them as well:
`-m PROGRAM` is started as `-m support.without_capability PROGRAM`, also by a stack that was started so.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from backend_api.main.modules import MODULES
from backend_api.runs import capabilities as module

WITHOUT = os.environ["WITHOUT"]
PROGRAMS = (
    "backend_api.main",
    "backend_api.main.worker",
    "local_stack",
    "support.forge",
    "support.hurried_gateway",
)
"""Those that have the table, or start one that has."""
_TESTS = str(Path(__file__).resolve().parents[1])
_names = WITHOUT.split(",")
_whole = module.capabilities
_begin = subprocess.Popen.__init__

if unknown := {*_names} - {*(one.name for one in _whole()), *(one.name for one in MODULES)}:
    raise SystemExit(f"WITHOUT: there is no capability called {', '.join(sorted(unknown))}")


def _rest(*sources: Any, **bounds: Any) -> Any:
    return tuple(one for one in _whole(*sources, **bounds) if one.name not in _names)


def _begin_without(self: Any, args: Any, *more: Any, env: Any = None, **given: Any) -> None:
    words: list[Any] = list(args) if hasattr(args, "__iter__") else []
    for at, (option, program) in enumerate(pairwise(words)):
        if option == "-m" and program in PROGRAMS:
            args = [*words[: at + 1], "support.without_capability", *words[at + 1 :]]
            environ = dict(os.environ if env is None else env)
            path = os.pathsep.join(filter(None, [environ.get("PYTHONPATH"), _TESTS]))
            env = {**environ, "WITHOUT": WITHOUT, "PYTHONPATH": path}
            break
    _begin(self, args, *more, env=env, **given)


# Plugins are imported before any test is, and this before the program whose process it is.
module.capabilities = _rest
subprocess.Popen.__init__ = _begin_without

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
