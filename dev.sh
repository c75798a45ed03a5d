#!/usr/bin/env bash
# Development: the local stack with services that restart, and a page that reloads, when their sources change.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/setup.sh
. "$ROOT/scripts/setup.sh"

case "${1:-}" in
  -h | --help | help)
    echo "Usage: ./dev.sh    Vite's server prints as the address; gateway and manager restart on a change of their sources."
    echo "Settings as for ./run.sh local; DATA_DIR is .data-dev here."
    exit
    ;;
esac

ensure_python dev
ensure_drawing
ensure_servers
ensure_node_modules
ensure_desktop
export PYTHONPATH=$ROOT/scripts STACK_RELOAD=true DATA_DIR=${DATA_DIR:-.data-dev}
exec "$ROOT/.venv/bin/python" -m local_stack
