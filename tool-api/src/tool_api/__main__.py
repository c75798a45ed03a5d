"""`python -m tool_api`: the supervisor of a sandbox and its door."""

from __future__ import annotations

import sys

import uvloop

from tool_api.bootstrap.serve import serve
from tool_api.bootstrap.settings import SettingsError, load_settings
from tool_api.logs import configure_logs


def main() -> int:
    configure_logs()
    try:
        settings = load_settings()
    except SettingsError as error:
        sys.stderr.write(f"tool-api: refused to start: {error}\n")
        return 2
    uvloop.run(serve(settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
