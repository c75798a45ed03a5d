#!/usr/bin/env bash
# Puts what draws formulas and diagrams of PDFs beside the tool API: a few files of two packages of npm, each package
# with the checksum that packages.lock has of it. Needs npm and a Python 3.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() {
  echo "Usage: $(basename "$0") FOLDER"
  echo "FOLDER is tool_api/tools/documents/dist, where the tool API looks for them."
}
case ${1:-} in
"" | -h | --help) usage && exit 0 ;;
esac
folder=$(realpath -m "$1")
wanted=$(cat "$here/packages.lock" "$here/install.sh" | sha256sum)
if [ "$wanted" = "$(cat "$folder/.lock" 2>/dev/null)" ]; then exit 0; fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir made
while read -r name sum; do
  archive=$(npm pack --silent --ignore-scripts "$name" | tail -n 1)
  python3 -c '
import base64, hashlib, sys
archive, name, wanted = sys.argv[1:]
found = "sha512-" + base64.b64encode(hashlib.sha512(open(archive, "rb").read()).digest()).decode()
if found != wanted:
    sys.exit(f"{name} is not what packages.lock has the checksum of.")
' "$archive" "$name" "$sum"
  mkdir "package-${name%@*}"
  tar -xzf "$archive" -C "package-${name%@*}" --strip-components=1 --no-same-owner
done <"$here/packages.lock"

cp package-katex/dist/katex.min.js package-katex/dist/katex.min.css package-mermaid/dist/mermaid.min.js made/
cp package-katex/LICENSE made/LICENSE.katex
cp package-mermaid/LICENSE made/LICENSE.mermaid
mkdir made/fonts
cp package-katex/dist/fonts/*.woff2 made/fonts/
echo "$wanted" >made/.lock
chmod -R a+rX made
mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
mv made "$folder"
