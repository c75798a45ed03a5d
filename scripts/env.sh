# shellcheck shell=bash
# A fresh .env with random secrets, written at first use and never over an existing one.

random_secret() { head -c 36 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n'; }

ensure_env() {
  [ -e "$ROOT/.env" ] && return
  (
    umask 077
    {
      echo "# Made by run.sh with random secrets. Every other setting: .env.example"
      echo "COMPOSE_PROJECT_NAME=$(stack_name)"
      echo "JWT_SECRET_KEY=$(random_secret)"
      echo "SANDBOX_MANAGER_TOKEN=$(random_secret)"
      echo "REDIS_PASSWORD=$(random_secret)"
    } >"$ROOT/.env"
  )
  note "Wrote .env with fresh secrets."
}
