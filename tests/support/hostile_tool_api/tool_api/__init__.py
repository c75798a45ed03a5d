"""A tool API its sandbox has taken over: the real one, until a file in the workspace says otherwise.

Put before the real one by `support.taken_over_manager`.
"""

from __future__ import annotations

import os
import sys

__version__ = "1"
# All other modules of the package are the real ones, wherever they are.
__path__ += [
    os.path.join(folder, "tool_api")
    for folder in [*sys.path, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    if os.path.isdir(os.path.join(folder, "tool_api", "bootstrap"))
]
