#!/bin/sh
# Ask the door, wherever it is, whether the services stand.
set -eu
# Programs of the image and no settings of the agent's: its own come first on the path, and its ~/.curlrc counts.
PATH=/usr/bin:/bin
case "${SANDBOX_DOOR:-tcp://0.0.0.0:7000}" in
  unix:*) set -- --unix-socket "${SANDBOX_DOOR#unix:}" http://door/healthz ;;
  *) port="${SANDBOX_DOOR:-tcp://0.0.0.0:7000}"; port="${port##*:}"; set -- "http://127.0.0.1:${port:-7000}/healthz" ;;
esac
curl -q -fsS --max-time 4 "$@" | jq -e .ready > /dev/null
