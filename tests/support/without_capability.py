"""Takes capabilities out of the deployment's table, for a look at which tests fail then; a plugin of pytest:

    PYTHONPATH=tests WITHOUT=budget python -m pytest -p support.without_capability tests/unit/backend-api/runs

Several names are separated by commas. Processes of their own that a test starts have the whole table.
"""

from __future__ import annotations

import os
from typing import Any

from backend_api.bootstrap import capabilities as module

WITHOUT = os.environ["WITHOUT"].split(",")
_whole = module.capabilities

if unknown := {*WITHOUT} - {one.name for one in _whole()}:
    raise SystemExit(f"WITHOUT: there is no capability called {', '.join(sorted(unknown))}")


def _rest(*sources: Any, **bounds: Any) -> Any:
    return tuple(one for one in _whole(*sources, **bounds) if one.name not in WITHOUT)


# Plugins are imported before any test is.
module.capabilities = _rest
