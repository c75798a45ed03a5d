#!/usr/bin/env bash
# Build every image of the system.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/setup.sh
. "$ROOT/scripts/setup.sh"
# shellcheck source=scripts/images/pins.sh
. "$ROOT/scripts/images/pins.sh"

usage() {
  cat <<'TEXT'
Usage: ./build.sh [IMAGE...]       images: backend-api sandbox-manager frontend sandbox (default: all)

Environment:
  BASE_IMAGE            base of the services (debian:bookworm-slim, by its digest where scripts/images/pins has it)
  SANDBOX_BASE_IMAGE    base of the sandbox (ubuntu:24.04, likewise; Debian works too)
  CHROME_VERSION, CHROME_SHA256, CHROME_DEB_URL
                        Chrome's package on Ubuntu (what scripts/images/pins names, else the current one)
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

# What is named by hand is not mixed with what is pinned.
chrome_arguments() {
  local version=${CHROME_VERSION:-} checksum=${CHROME_SHA256:-} url=${CHROME_DEB_URL:-}
  chrome=()
  if [ -z "$version$checksum$url" ]; then version=$(pinned_chrome version) checksum=$(pinned_chrome checksum); fi
  [ -z "$version" ] || chrome+=(--build-arg "CHROME_VERSION=$version")
  [ -z "$checksum" ] || chrome+=(--build-arg "CHROME_SHA256=$checksum")
  [ -z "$url" ] || chrome+=(--build-arg "CHROME_DEB_URL=$url")
}

build() {
  local name=$1 file=$1/Dockerfile base
  base=$(default_image BASE_IMAGE debian:bookworm-slim)
  if [ "$name" = sandbox ]; then file=sandbox-image/Dockerfile base=$(default_image SANDBOX_BASE_IMAGE ubuntu:24.04); fi
  local -a arguments=(-t "${IMAGE_PREFIX:-agent}-$name:${IMAGE_TAG:-latest}" -f "$ROOT/$file" --build-arg "BASE_IMAGE=$base")
  if [ "$name" = sandbox ]; then chrome_arguments; arguments+=("${chrome[@]}"); fi
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
