#!/usr/bin/env bash
# Bring a running installation up to date: sources, base images, images, services.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$ROOT"
# shellcheck source=scripts/setup.sh
. "$ROOT/scripts/setup.sh"

case "${1:-}" in
  -h | --help | help)
    echo "Usage: ./update.sh    git pull (in a clone), newer base images, ./build.sh, ./run.sh up -d"
    exit
    ;;
esac

if git -C "$ROOT" rev-parse --abbrev-ref '@{upstream}' >/dev/null 2>&1; then
  git -C "$ROOT" pull --ff-only || fail "git pull failed; settle your own changes first."
else
  note "No clone with an upstream branch: the sources stay as they are."
fi

# Base images of one's own are not in any registry, so a failed pull is no reason to stop.
for image in "${BASE_IMAGE:-debian:bookworm-slim}" "${SANDBOX_BASE_IMAGE:-ubuntu:24.04}" \
  "${MONGO_IMAGE:-mongo:7}" "${REDIS_IMAGE:-redis:7-alpine}"; do
  docker pull -q "$image" || note "$image could not be pulled; what is here is used."
done

"$ROOT/build.sh"
exec "$ROOT/run.sh" up -d
