# shellcheck shell=bash
# A .env with random secrets: written at first use, and filled in where one of them is empty.

random_secret() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

ensure_env() {
  local name
  if [ ! -e "$ROOT/.env" ]; then
    (umask 077 && printf '# Made by run.sh. Every other setting: .env.example\n' >"$ROOT/.env")
    note "Wrote .env with fresh secrets."
  fi
  set_if_empty COMPOSE_PROJECT_NAME "$(stack_name)"
  for name in JWT_SECRET_KEY SECRETS_KEY SANDBOX_MANAGER_TOKEN REDIS_PASSWORD; do set_if_empty "$name" "$(random_secret)"; done
}

# Containers are given the settings that there are, so that one that was is told of here.
tell_of_former_settings() {
  local name instead
  while read -r name instead; do
    [ "$name" != "#" ] || continue
    if [ -n "${!name:-}" ] || grep -qs "^$name=." "$ROOT/.env"; then note "$name is no setting any more: $instead"; fi
  done <"$ROOT/service-kit/src/service_kit/former_settings.txt"
}

set_if_empty() {
  grep -q "^$1=." "$ROOT/.env" && return
  [ -z "${!1:-}" ] || return 0
  sed -i "/^$1=$/d" "$ROOT/.env"
  printf '%s=%s\n' "$1" "$2" >>"$ROOT/.env"
}
