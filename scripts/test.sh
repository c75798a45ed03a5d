# shellcheck shell=bash
# Every kind of test, each set up as far as this machine allows; what is left out is said. Sourced by run.sh.

REPORTS=$ROOT/.cache/tests

# What the gate runs of the tests through whole stacks and the page: one for each main path, and what guards accounts and decisions.
GATE_STACKS=(product operations stack/test_local_stack.py fleet/test_workers.py fleet/test_former_data.py
  rows/test_ports.py rows/test_skills.py rows/test_mcp_programs.py rows/test_desktop.py sandbox-manager sandbox-image)
GATE_PAGES=(test_newcomer.py test_approvals.py test_questions.py test_reconnect.py test_live_page.py test_two_accounts.py
  test_comes_back.py test_offline.py test_keys.py test_ports.py)

skip_kind() {
  note "SKIPPED $1: $2"
  echo "$2" >"$REPORTS/$1.skipped"
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
  PYTHONPATH=$ROOT/tests "$ROOT/.venv/bin/python" -m pytest -p support.run_report --report-file="$REPORTS/$kind.report" \
    --durations=12 --durations-min=5 "$@"
}

run_kind() {
  case "$1" in
    unit | contract | integration | hostile) run_pytest "$1" "tests/$1" "${@:2}" ;;
    # `page` and `stacks` are its two halves.
    e2e) run_pytest e2e tests/e2e --ignore=tests/e2e/compose "${@:2}" ;;
    page) run_pytest page tests/e2e/page "${@:2}" ;;
    stacks) run_pytest stacks tests/e2e --ignore=tests/e2e/compose --ignore=tests/e2e/page "${@:2}" ;;
    gate-page) run_pytest gate-page "${GATE_PAGES[@]/#/tests/e2e/page/}" "${@:2}" ;;
    gate-stacks) run_pytest gate-stacks "${GATE_STACKS[@]/#/tests/e2e/}" "${@:2}" ;;
    docker)
      if ! docker info >/dev/null 2>&1; then skip_kind docker "no Docker engine answers"
      elif ! docker compose version >/dev/null 2>&1 && ! command -v docker-compose >/dev/null; then skip_kind docker "no compose"
      elif ! has_images; then skip_kind docker "the images are not built: ./build.sh"
      else run_pytest docker tests/e2e/compose "${@:2}"; fi
      ;;
    # The seed and what was broken are told also where all is well. `storm` and `outages` are its two halves.
    chaos) run_pytest chaos tests/chaos "${@:2}" ;;
    storm) run_pytest storm tests/chaos/test_everything_breaks.py tests/chaos/test_killed_while_*.py tests/chaos/test_schedules_under_kills.py "${@:2}" ;;
    outages) run_pytest outages tests/chaos --ignore-glob='*/test_everything_breaks.py' --ignore-glob='*/test_killed_while_*.py' --ignore-glob='*/test_schedules_under_kills.py' "${@:2}" ;;
    quiet) run_pytest quiet tests/contract tests/integration tests/e2e tests/hostile tests/chaos -m quiet ;;
    frontend)
      (cd "$ROOT/frontend" && npm test --silent -- --reporter=default --reporter=json \
        --outputFile.json="$REPORTS/frontend.vitest.report")
      ;;
    *) fail "no such kind of test: $1 (unit contract integration e2e page stacks hostile docker chaos quiet frontend gate all)" ;;
  esac
}

# try_kind KIND [OPTION...]: run it, and keep what it says and how it ended for the end.
try_kind() {
  local began=$SECONDS
  note "== $1"
  run_kind "$@" 2>&1 | tee "$REPORTS/$1.log" || touch "$REPORTS/$1.failed"
  note "== $1: $((SECONDS - began)) s"
}

# Runs what the other lane has not taken, of that the tests that `-m "$SELECTED"` selects. What a kind says comes in one piece.
lane() {
  local kind
  for kind in "$@"; do
    mkdir "$REPORTS/$kind.taken" 2>/dev/null || continue
    note "== $kind begins"
    try_kind "$kind" -m "$SELECTED" >"$REPORTS/$kind.said" 2>&1
    cat "$REPORTS/$kind.said"
  done
}

# As many at a time as there are processors, and at least two: with one more, a test in some thousands found its machine too
# slow.
run_side_by_side() {
  local lanes=()
  # Groups of their own: they can be ended with all they started, and Ctrl+C means the same to their tests as elsewhere.
  set -m
  for _ in $(seq "$(($(nproc) > 2 ? $(nproc) - 1 : 1))"); do
    lane "$@" </dev/null &
    lanes+=("-$!")
  done
  set +m
  # shellcheck disable=SC2064 # the groups of now
  trap "kill -- ${lanes[*]} 2>/dev/null || true" EXIT
  lane "$@"
  wait "${lanes[@]#-}"
  trap - EXIT
}

tell_results() {
  local kind log
  for log in "$REPORTS"/*.failed; do
    kind=$(basename "$log" .failed)
    [ -e "$log" ] || continue
    # Of what no test stands for: a run that broke, or one of another tool.
    grep -q '"failures": \[\[' "$REPORTS/$kind.report" 2>/dev/null || { note "== the end of $kind:"; tail -n 60 "$REPORTS/$kind.log" >&2; }
  done
  for log in "$REPORTS"/*.skipped; do
    [ ! -e "$log" ] || note "Not run: $(basename "$log" .skipped) ($(cat "$log"))"
  done
  for log in "$REPORTS"/*.failed; do
    [ ! -e "$log" ] || note "Failed: $(basename "$log" .failed)"
  done
  touch "$REPORTS/none.report"
  "$ROOT/.venv/bin/python" "$ROOT/tests/support/run_report.py" "$REPORTS"/*.report
}

# wanted KIND...: whether one of them is among the kinds that were asked for
wanted() {
  local kind
  for kind in "$@"; do
    case " ${kinds[*]} " in *" $kind "*) return ;; esac
  done
  return 1
}

run_tests() {
  local kinds=("$@") kind
  if [ ${#kinds[@]} = 0 ]; then kinds=(gate); fi
  cd "$ROOT" || return
  ensure_python dev
  ensure_drawing
  ensure_servers
  if wanted gate all frontend e2e page; then ensure_node_modules; fi
  if wanted gate all frontend e2e page stacks hostile quiet chaos outages; then ensure_frontend; fi
  if wanted gate all contract integration e2e page stacks hostile quiet chaos storm outages; then ensure_desktop; fi
  if wanted gate all e2e stacks; then ensure_mcp_servers; fi
  rm -rf "$REPORTS"
  mkdir -p "$REPORTS"
  export REQUIRE_ALL
  # Tests start hundreds of processes of ours, each of which would compile its modules anew.
  unset PYTHONDONTWRITEBYTECODE
  # Figures are left for a quiet moment, and the long ones come first.
  if wanted all; then
    SELECTED="not quiet" run_side_by_side page integration hostile stacks contract unit docker frontend
    try_kind quiet
    SELECTED="not quiet" run_side_by_side storm outages
    kinds=()
  elif wanted gate; then
    SELECTED="not quiet and not thorough" run_side_by_side integration hostile frontend gate-stacks unit contract gate-page docker
    kinds=()
  fi
  for kind in ${kinds[@]+"${kinds[@]}"}; do try_kind "$kind"; done
  tell_results
  ! compgen -G "$REPORTS/*.failed" >/dev/null || exit 1
  [ -z "${REQUIRE_ALL:-}" ] || ! compgen -G "$REPORTS/*.skipped" >/dev/null || fail "REQUIRE_ALL is set, and not every kind ran."
}
