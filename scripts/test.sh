# shellcheck shell=bash
# Every kind of test, each set up as far as this machine allows; what is left out is said. Sourced by run.sh.

SKIPPED_KINDS=()
FAILED_KINDS=()

skip_kind() {
  note "SKIPPED $1: $2"
  SKIPPED_KINDS+=("$1 ($2)")
}

has_images() {
  local name
  for name in sandbox sandbox-manager backend-api frontend; do
    docker image inspect "${IMAGE_PREFIX:-agent}-$name:${IMAGE_TAG:-latest}" >/dev/null 2>&1 || return
  done
}

run_pytest() {
  local kind=$1
  shift
  note "== $kind"
  PYTHONPATH=$ROOT/tests "$ROOT/.venv/bin/python" -m pytest -p support.run_report --report-file="$COUNTS" "$@" || FAILED_KINDS+=("$kind")
}

run_kind() {
  case "$1" in
    unit | contract | integration) run_pytest "$1" "tests/$1" ;;
    e2e) run_pytest e2e tests/e2e --ignore=tests/e2e/compose ;;
    docker)
      if ! docker info >/dev/null 2>&1; then skip_kind docker "no Docker engine answers"
      elif ! docker compose version >/dev/null 2>&1 && ! command -v docker-compose >/dev/null; then skip_kind docker "no compose"
      elif ! has_images; then skip_kind docker "the images are not built: ./build.sh"
      else run_pytest docker tests/e2e/compose; fi
      ;;
    # The seed and what was broken are told also where all is well.
    chaos) run_pytest chaos tests/chaos --capture=no ;;
    frontend)
      note "== frontend"
      (cd "$ROOT/frontend" && npm test --silent) || FAILED_KINDS+=(frontend)
      ;;
    *) fail "no such kind of test: $1 (unit contract integration e2e docker chaos frontend all)" ;;
  esac
}

run_tests() {
  local kinds=("$@") kind
  if [ ${#kinds[@]} = 0 ] || [ "${kinds[0]}" = all ]; then 
    kinds=(frontend unit contract integration e2e docker chaos)
    # A taste of it; ./run.sh test chaos is the whole.
    export CHAOS_RUNS=${CHAOS_RUNS:-24}
  fi
  cd "$ROOT" || return
  ensure_python dev
  ensure_servers
  case " ${kinds[*]} " in *" frontend "* | *" e2e "*) ensure_node_modules ;; esac
  case " ${kinds[*]} " in *" e2e "*) ensure_frontend ;; esac
  case " ${kinds[*]} " in *" contract "* | *" integration "* | *" e2e "* | *" chaos "*) ensure_desktop ;; esac
  COUNTS=$ROOT/.cache/test-counts
  : >"$COUNTS"
  export REQUIRE_ALL
  for kind in "${kinds[@]}"; do run_kind "$kind"; done
  [ ${#SKIPPED_KINDS[@]} = 0 ] || note "Not run: $(printf '%s; ' "${SKIPPED_KINDS[@]}")"
  [ ${#FAILED_KINDS[@]} = 0 ] || note "Failed: ${FAILED_KINDS[*]}"
  "$ROOT/.venv/bin/python" "$ROOT/tests/support/run_report.py" "$COUNTS"
  [ ${#FAILED_KINDS[@]} = 0 ] || exit 1
  [ -z "${REQUIRE_ALL:-}" ] || [ ${#SKIPPED_KINDS[@]} = 0 ] || fail "REQUIRE_ALL is set, and not every kind ran."
}
