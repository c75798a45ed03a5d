#!/usr/bin/env bash
# Run the system: on this machine alone (local), or through compose (any of its verbs).
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/setup.sh
. "$ROOT/scripts/setup.sh"
# shellcheck source=scripts/compose.sh
. "$ROOT/scripts/compose.sh"
# shellcheck source=scripts/env.sh
. "$ROOT/scripts/env.sh"
# shellcheck source=scripts/images/pins.sh
. "$ROOT/scripts/images/pins.sh"

usage() {
  cat <<'TEXT'
Usage: ./run.sh local              everything on this machine, no Docker needed; Ctrl+C ends it
       ./run.sh test [KIND...]     tests: unit contract integration e2e page stacks hostile docker chaos quiet frontend,
                                   all of them, or gate (default): what CI runs
       ./run.sh check              formatter, linters, types, layers, house rules
       ./run.sh VERB [ARGS...]     any verb of compose: up -d, down, logs -f, ps, ... (run ./build.sh first)

Settings are environment variables or lines of .env (see .env.example). For local: PORT (8000), HOST (127.0.0.1),
DATA_DIR (.data), AUTH_MODE (local | password), MONGO_URI, REDIS_URL, INSTALL_DESKTOP (auto | never).
TEXT
}

run_local() {
  ensure_python local
  ensure_drawing
  ensure_servers
  ensure_frontend
  ensure_desktop
  tell_of_former_settings
  export PYTHONPATH=$ROOT/scripts
  exec "$ROOT/.venv/bin/python" -m local_stack
}

run_compose() {
  command -v docker >/dev/null || fail "Docker is not installed. Install it, or run ./run.sh local"
  choose_compose
  ensure_env
  tell_of_former_settings
  cd "$ROOT"
  COMPOSE_PROJECT_NAME=$(stack_name)
  export COMPOSE_PROJECT_NAME
  # The group that may use the engine's socket, for the one service that has it.
  DOCKER_GID=${DOCKER_GID:-$(stat -c %g "${DOCKER_SOCKET:-/var/run/docker.sock}" 2>/dev/null || echo 0)}
  SANDBOX_IMAGE=${SANDBOX_IMAGE:-${IMAGE_PREFIX:-agent}-sandbox:${IMAGE_TAG:-latest}}
  MONGO_IMAGE=$(default_image MONGO_IMAGE mongo:7)
  REDIS_IMAGE=$(default_image REDIS_IMAGE redis:7-alpine)
  export DOCKER_GID SANDBOX_IMAGE MONGO_IMAGE REDIS_IMAGE
  [ "$1" = down ] || exec "${COMPOSE[@]}" "$@"
  local volumes=
  case " $* " in *" -v "* | *" --volumes "*) volumes=volumes ;; esac
  # The manager goes first, with time to remove its sandboxes; the sweep is for those of a killed one.
  "${COMPOSE[@]}" stop -t 40 sandbox-manager >/dev/null 2>&1 || true
  "${COMPOSE[@]}" "$@"
  remove_sandboxes "$COMPOSE_PROJECT_NAME" "$volumes"
}

case "${1:-}" in
  "" | -h | --help | help) usage ;;
  local) run_local ;;
  test) shift && . "$ROOT/scripts/test.sh" && run_tests "$@" ;;
  check) . "$ROOT/scripts/check.sh" && run_checks ;;
  *) run_compose "$@" ;;
esac
