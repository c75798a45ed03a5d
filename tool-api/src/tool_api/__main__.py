"""`python -m tool_api`: the supervisor of a sandbox, and its endpoint."""

from __future__ import annotations

import ctypes
import sys

import uvloop

from service_kit.cancellation import let_cancellation_through
from service_kit.observation.logs import log_json_lines
from tool_api.bootstrap.serve import serve
from tool_api.bootstrap.settings import SettingsError, load_settings

_PR_SET_DUMPABLE = 4


def main() -> int:
    """Run the supervisor; returns the exit code, 2 for settings that don't allow a start."""
    let_cancellation_through()
    log_json_lines("INFO")
    try:
        settings = load_settings()
    except SettingsError as error:
        sys.stderr.write(f"tool-api: refused to start: {error}\n")
        return 2
    if settings.sandbox_untraceable:
        _forbid_tracing()
    uvloop.run(serve(settings))
    return 0


def _forbid_tracing() -> None:
    """Keep other processes of this user from tracing this one and taking its descriptors."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the process could not be made untraceable")


if __name__ == "__main__":
    sys.exit(main())
