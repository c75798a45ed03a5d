#!/usr/bin/env bash
# Run a sandbox image hardened as in production, try each of its services, and remove it again.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: sandbox-image/smoke-test.sh IMAGE

Environment:
  SCREENSHOT      file to save a picture of the desktop to (PNG; default: none)
  READY_TIMEOUT   seconds to wait for the sandbox (60)
TEXT
}

case "${1:-}" in -h | --help | "") usage; [ -n "${1:-}" ]; exit ;; esac
image=$1 here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=/opt/tool-api/venv/bin/python
container=""

remove() { if [ -n "$container" ]; then docker rm -fv "$container" >/dev/null; fi; }
trap remove EXIT

read -r public_key TOKEN < <(docker run --rm -i --network none --entrypoint "$python" "$image" - <"$here/smoke_keys.py")
export TOKEN
started=$(date +%s%3N)
container=$(docker run -d --name "sandbox-smoke-$$" --network none --cap-drop ALL --security-opt no-new-privileges:true \
  --security-opt "seccomp=$here/seccomp.json" --read-only --pids-limit 512 --memory 2g --cpus 2 --shm-size 512m \
  --tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777,size=512m \
  --tmpfs /home/agent:rw,exec,nosuid,nodev,mode=0700,uid=1000,gid=1000,size=1g \
  --tmpfs /run/sandbox:rw,noexec,nosuid,nodev,mode=0700,uid=1000,gid=1000,size=16m \
  --tmpfs /skills:rw,exec,nosuid,nodev,mode=0755,uid=1000,gid=1000,size=64m \
  -v /workspace -e SANDBOX_ID=smoke -e SANDBOX_GENERATION=1 -e "SANDBOX_PUBLIC_KEY=$public_key" "$image")

ready="" deadline=$((SECONDS + ${READY_TIMEOUT:-60}))
exec {log}< <(exec docker logs -f "$container" 2>/dev/null)
while [ "$ready" = "" ] && IFS= read -r -t "$((deadline - SECONDS))" line <&"$log"; do
  case "$line" in "tool-api: ready "*) ready=$line ;; esac
done
if [ "$ready" != "tool-api: ready desktop=yes" ]; then
  echo "FAILED  start: ${ready:-no ready line}"
  docker logs --tail 40 "$container"
  exit 1
fi
echo "ok      start: ready after $(($(date +%s%3N) - started)) ms"

if ! docker exec -i -e TOKEN "$container" "$python" - <"$here/smoke_checks.py"; then
  docker logs --tail 40 "$container"
  exit 1
fi
if [ -n "${SCREENSHOT:-}" ]; then docker exec "$container" cat /workspace/desktop.png >"$SCREENSHOT"; fi
docker exec "$container" /opt/sandbox/healthcheck.sh && echo "ok      health check"
