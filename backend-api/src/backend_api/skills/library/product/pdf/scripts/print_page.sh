#!/usr/bin/env bash
# Print a page of the workspace as PDF with the computer's browser.
set -euo pipefail

if [ $# -ne 2 ]; then echo "usage: print_page.sh IN.html OUT.pdf" >&2; exit 2; fi
page=$(realpath -e -- "$1") || { echo "There is no $1." >&2; exit 1; }
out=$(realpath -m -- "$2")
browser=""
for name in google-chrome-stable google-chrome chromium chromium-browser /opt/google/chrome/chrome; do
  if command -v "$name" >/dev/null; then browser=$name; break; fi
done
if [ -z "$browser" ]; then echo "This computer has no browser that prints." >&2; exit 1; fi

profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
rm -f -- "$out"
# It prints with a profile of its own, beside the browser that is open.
timeout 60 "$browser" --headless --disable-gpu --no-first-run --user-data-dir="$profile" --no-pdf-header-footer \
  --print-to-pdf="$out" "file://$page" >"$profile/said" 2>&1 || true
if [ ! -s "$out" ]; then echo "The browser printed nothing:" >&2; tail -n 5 "$profile/said" >&2; exit 1; fi
echo "Wrote $out ($(stat -c %s -- "$out") bytes)"
