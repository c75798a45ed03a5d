#!/usr/bin/env bash
# Bring a running installation up to date: sources, base images, images, services.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$ROOT"
# shellcheck source=scripts/setup.sh
. "$ROOT/scripts/setup.sh"
# shellcheck source=scripts/images/pins.sh
. "$ROOT/scripts/images/pins.sh"

case "${1:-}" in
  -h | --help | help)
    echo "Usage: ./update.sh         git pull (in a clone), newer base images, ./build.sh, ./run.sh up -d"
    echo "       ./update.sh pins    only: pull the base images, and write which ones they and Chrome's package are now"
    echo "                           (scripts/images/pins)"
    exit
    ;;
esac

renew_pins() {
  # One of somebody's own is used as it is named.
  local setting tag
  local -a tags=()
  for setting in BASE_IMAGE=debian:bookworm-slim SANDBOX_BASE_IMAGE=ubuntu:24.04 MONGO_IMAGE=mongo:7 REDIS_IMAGE=redis:7-alpine; do
    tag=${setting#*=}
    if [ "$(default_image "${setting%%=*}" "$tag")" = "$(pinned "$tag")" ]; then tags+=("$tag"); fi
  done
  pull_and_pin "${tags[@]}"
  pin_chrome
}

if [ "${1:-}" = pins ]; then renew_pins; exit; fi

if git -C "$ROOT" rev-parse --abbrev-ref '@{upstream}' >/dev/null 2>&1; then
  git -C "$ROOT" pull --ff-only || fail "git pull failed; settle your own changes first."
else
  note "No clone with an upstream branch: the sources stay as they are."
fi

renew_pins

"$ROOT/build.sh"
exec "$ROOT/run.sh" up -d
