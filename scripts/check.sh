# shellcheck shell=bash
# The gate for people and CI: every check runs, whatever the one before said. Sourced by run.sh.

FAILED_CHECKS=()
SKIPPED_CHECKS=()

check() {
  local name=$1
  shift
  if "$@"; then note "ok      $name"; else note "FAILED  $name"; FAILED_CHECKS+=("$name"); fi
}

skip_check() {
  note "skipped $1: $2"
  SKIPPED_CHECKS+=("$1")
}

check_shell() {
  local files
  mapfile -t files < <(cd "$ROOT" && grep -rlE --exclude-dir={.git,.venv,.venv-sandbox,.venv-kernels,node_modules,dist,.cache} '^#!.*\b(ba)?sh$|^# shellcheck shell=' -- *.sh .ci scripts requirements sandbox-image 2>/dev/null)
  (cd "$ROOT" && "$ROOT/.venv/bin/shellcheck" -x "${files[@]}")
}

check_compose() {
  local file
  for file in docker-compose.yml docker-compose.dev.yml; do
    (cd "$ROOT" && JWT_SECRET_KEY=x SANDBOX_MANAGER_TOKEN=x REDIS_PASSWORD=x "${COMPOSE[@]}" -f docker-compose.yml -f "$file" config -q) || return
  done
}

check_frontend() { (cd "$ROOT/frontend" && npm run --silent "$1"); }

run_checks() {
  ensure_python dev
  cd "$ROOT" || return
  local bin=$ROOT/.venv/bin rule script
  check "format" "$bin/ruff" format --check -q .
  check "lint" "$bin/ruff" check -q .
  check "types" "$bin/basedpyright" --warnings
  check "layers" "$bin/lint-imports" --no-cache
  check "shell scripts" check_shell
  for rule in "$ROOT"/scripts/checks/*.py; do check "house: $(basename "$rule" .py)" "$bin/python" "$rule"; done
  if docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null; then
    choose_compose
    check "compose files" check_compose
  else
    skip_check "compose files" "no compose on this machine"
  fi
  ensure_node_modules
  for script in lint check:folders types check:format check:generated; do check "front end: $script" check_frontend "$script"; done
  [ -z "${REQUIRE_ALL:-}" ] || [ ${#SKIPPED_CHECKS[@]} = 0 ] || FAILED_CHECKS+=("${SKIPPED_CHECKS[@]}")
  if [ ${#FAILED_CHECKS[@]} -gt 0 ]; then fail "failed: $(printf '%s; ' "${FAILED_CHECKS[@]}")"; fi
  note "All checks passed."
}
