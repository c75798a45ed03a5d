# shellcheck shell=bash
# The one place that knows which compose this machine has. Sets COMPOSE for those who source it.
# shellcheck disable=SC2034

choose_compose() {
  if docker compose version >/dev/null 2>&1; then
    COMPOSE=(docker compose)
  elif command -v docker-compose >/dev/null; then
    COMPOSE=(docker-compose)
  else
    fail "Neither 'docker compose' nor 'docker-compose' is here. Install Docker with its compose plugin, or run ./run.sh local"
  fi
}

# The stack's name: what compose puts in front of its containers, and the label on every sandbox of ours.
stack_name() {
  local name
  name=${COMPOSE_PROJECT_NAME:-$(sed -n 's/^COMPOSE_PROJECT_NAME=//p' "$ROOT/.env" 2>/dev/null | tail -n 1)}
  [ -n "$name" ] || name=$(basename "$ROOT" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9_-' | sed 's/^[^a-z0-9]*//' | cut -c1-31)
  echo "${name:-agent}"
}

# The manager removes its sandboxes when it ends; this takes what a killed one left behind.
remove_sandboxes() {
  local label="label=agent-sandbox.stack=$1" found
  found=$(docker ps -aq --filter "$label")
  [ -z "$found" ] || xargs docker rm -f >/dev/null <<<"$found"
  found=$(docker network ls -q --filter "$label")
  [ -z "$found" ] || xargs docker network rm >/dev/null <<<"$found"
  if [ "${2:-}" = volumes ]; then
    found=$(docker volume ls -q --filter "$label")
    [ -z "$found" ] || xargs docker volume rm >/dev/null <<<"$found"
  fi
}
