# shellcheck shell=bash
# Which bytes of a base image and of Chrome's package are built with: a tag or an address may mean others tomorrow.
# The file `pins` beside this one says it, one a line; ./update.sh renews it. It is this installation's own, and not in
# version control: a clone that has one of its own would not take that of the next version.
#
#   debian:bookworm-slim@sha256:...       the digest of a tag
#   chrome VERSION SHA256                 of Chrome's package for amd64
# Sourced by the scripts of the root folder, which set ROOT.

PINS=${PINS:-$ROOT/scripts/images/pins}
CHROME_PACKAGES=${CHROME_PACKAGES:-https://dl.google.com/linux/chrome/deb/dists/stable/main/binary-amd64/Packages}

# pinned TAG: the image with its digest, where that is known.
pinned() {
  local found=
  [ ! -f "$PINS" ] || found=$(grep -m 1 -xE "${1//./\\.}@sha256:[0-9a-f]{64}" "$PINS" || true)
  echo "${found:-$1}"
}

# default_image SETTING TAG: what is set in the environment or in .env, else the tag with its digest.
default_image() {
  local given=${!1:-}
  [ -n "$given" ] || given=$(sed -n "s/^$1=//p" "$ROOT/.env" 2>/dev/null | tail -n 1)
  echo "${given:-$(pinned "$2")}"
}

# pinned_chrome version | checksum: nothing where it is not known.
pinned_chrome() {
  local field=2
  [ "$1" = version ] || field=3
  [ ! -f "$PINS" ] || awk -v field="$field" '$1 == "chrome" { print $field; exit }' "$PINS"
}

# pull_and_pin TAG...: pull each and write which digest it has; what can't be pulled keeps the pin it had.
pull_and_pin() {
  local image digest
  for image in "$@"; do
    docker pull -q "$image" || { note "$image could not be pulled; what is here is used."; continue; }
    digest=$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$image" 2>/dev/null |
      grep -m 1 -oE 'sha256:[0-9a-f]{64}$' || true)
    [ -z "$digest" ] || write_pin "$image@" "$image@$digest"
  done
}

# The version and the checksum that Google's own list of packages names.
pin_chrome() {
  local found
  found=$(curl -fsSL --retry 3 --max-time 60 "$CHROME_PACKAGES" | awk '
    /^Package: / { wanted = $2 == "google-chrome-stable" }
    wanted && /^Version: / { version = $2 }
    wanted && /^SHA256: / { checksum = $2 }
    END { print version, checksum }' || true)
  if [[ $found =~ ^[0-9][0-9.]*(-[0-9]+)?\ [0-9a-f]{64}$ ]]; then
    write_pin "chrome " "chrome $found"
  else
    note "Chrome's list of packages could not be read; its package stays as it was pinned."
  fi
}

# write_pin START LINE: in the place of the line that starts so.
write_pin() {
  local line
  { while IFS= read -r line; do [[ $line == "$1"* ]] || printf '%s\n' "$line"; done; printf '%s\n' "$2"; } \
    < <(cat "$PINS" 2>/dev/null) >"$PINS.new"
  sort -o "$PINS.new" "$PINS.new"
  mv "$PINS.new" "$PINS"
}
