#!/usr/bin/env bash
# Build every image of the system.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/setup.sh
. "$ROOT/scripts/setup.sh"

usage() {
  cat <<'TEXT'
Usage: ./build.sh [IMAGE...]       images: backend-api sandbox-manager frontend sandbox (default: all)

Environment:
  BASE_IMAGE            base of the services (debian:bookworm-slim)
  SANDBOX_BASE_IMAGE    base of the sandbox (ubuntu:24.04; Debian works too)
  IMAGE_PREFIX          first part of the images' names (agent)
  IMAGE_TAG             their tag (latest)
  EXTRA_CA_DIR          folder with *.crt files of private certificate authorities that builds and images must trust
                        (default: the host's own extra ones in /usr/local/share/ca-certificates)
  BUILD_ARGS            further arguments of docker build, for instance "--pull --no-cache"
TEXT
}

case "${1:-}" in -h | --help | help) usage; exit ;; esac
command -v docker >/dev/null || fail "Docker is not installed."
docker info >/dev/null 2>&1 || fail "No Docker engine answers. Start it, or see that you may use it."

# Images and builds trust what the host trusts beyond the usual; the folders are ignored by git.
copy_certificates() {
  local source=${EXTRA_CA_DIR:-/usr/local/share/ca-certificates} target
  for target in scripts/images/extra-ca sandbox-image/extra-ca; do
    mkdir -p "$ROOT/$target"
    find "$ROOT/$target" -name '*.crt' -delete
    if [ -d "$source" ]; then find -L "$source" -type f -name '*.crt' -exec cp {} "$ROOT/$target/" \; ; fi
  done
}

build() {
  local name=$1 file=$1/Dockerfile base=${BASE_IMAGE:-}
  if [ "$name" = sandbox ]; then file=sandbox-image/Dockerfile base=${SANDBOX_BASE_IMAGE:-}; fi
  local -a arguments=(-t "${IMAGE_PREFIX:-agent}-$name:${IMAGE_TAG:-latest}" -f "$ROOT/$file")
  [ -z "$base" ] || arguments+=(--build-arg "BASE_IMAGE=$base")
  read -ra more <<<"${BUILD_ARGS:-}"
  note "Building ${arguments[1]} ..."
  docker build "${arguments[@]}" "${more[@]}" "$ROOT" || fail "The image ${arguments[1]} could not be built."
}

copy_certificates
if [ $# = 0 ]; then set -- backend-api sandbox-manager frontend sandbox; fi
for name in "$@"; do
  case "$name" in
    backend-api | sandbox-manager | frontend | sandbox) build "$name" ;;
    *) usage >&2; fail "no such image: $name" ;;
  esac
done
