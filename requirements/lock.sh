#!/usr/bin/env bash
# Write the hashed locks anew from the .in files (needs uv). Pass --upgrade to move versions.
set -euo pipefail
cd "$(dirname "$0")"
compile() { uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header "$@"; }
compile "$@" dev.in -o dev.txt
for name in local backend-api sandbox-manager tool-api kernels mcp-servers frontend-build; do
  compile -c dev.txt "$name.in" -o "$name.txt"
done
