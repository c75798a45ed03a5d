"""`python -m sandbox_manager`."""

from __future__ import annotations

import sys

from sandbox_manager.bootstrap.serve import serve
from sandbox_manager.bootstrap.settings import Settings, SettingsError
from service_kit.cancellation import let_cancellation_through


def main() -> int:
    let_cancellation_through()
    try:
        return serve(Settings())
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
