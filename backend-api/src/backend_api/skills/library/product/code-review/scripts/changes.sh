#!/usr/bin/env bash
# What there is to review in a git repository. Changes nothing.
set -euo pipefail

git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "This is no git repository: list the files to review yourself." >&2; exit 1; }

base=${1:-}
if [ -z "$base" ]; then
  for name in origin/main origin/master main master; do
    if git rev-parse --verify -q "$name^{commit}" >/dev/null && found=$(git merge-base HEAD "$name" 2>/dev/null) \
      && [ "$found" != "$(git rev-parse HEAD)" ]; then base=$found; break; fi
  done
fi
if [ -n "$base" ] && ! git rev-parse --verify -q "$base^{commit}" >/dev/null; then echo "There is no commit $base." >&2; exit 1; fi
if [ -z "$base" ] && git rev-parse --verify -q HEAD >/dev/null; then base=HEAD; fi
if [ -z "$base" ]; then echo "There is no commit yet: all files are new."; git ls-files --others --exclude-standard | head -100; exit 0; fi

echo "# Since $(git rev-parse --short "$base")"
git log --oneline --no-decorate "$base..HEAD" | head -50
echo
echo "# Files"
git diff --stat=100 "$base" -- | tail -60
untracked=$(git ls-files --others --exclude-standard | head -50)
if [ -n "$untracked" ]; then printf '\nnew, and not added:\n%s\n' "$untracked"; fi

echo
echo "# Tests touched"
git diff --name-only "$base" -- | grep -iE '(^|/)(tests?|specs?|__tests__)/|[._-](test|spec)\.|(^|/)test_' || echo "none"

echo
echo "# Lines that were added and deserve a look"
git diff -U0 "$base" -- | awk '
  /^\+\+\+ / { file = substr($0, 7); next }
  /^@@ / { split($3, at, ","); line = substr(at[1], 2) + 0; next }
  /^\+/ {
    text = substr($0, 2)
    if (text ~ /TODO|FIXME|XXX|HACK/) what = "forgotten"
    else if (text ~ /except( Exception)?:|catch *\(?[a-z_]*\)? *\{ *\}|\|\| true/) what = "error swallowed"
    else if (text ~ /(password|secret|api_?key|token) *[:=] *["\x27][^"\x27]{6,}/) what = "a key?"
    else if (text ~ /eval\(|exec\(|shell *= *True|innerHTML|v-html|dangerouslySet|pickle\.load|yaml\.load\(/) what = "runs what it is given?"
    else if (text ~ /\.only\(|\.skip\(|@pytest\.mark\.skip|xfail|noqa|type: ignore|eslint-disable|@ts-ignore/) what = "switched off"
    else if (text ~ /console\.log|breakpoint\(|pdb\.set_trace|debugger/) what = "left from trying"
    else what = ""
    if (what != "" && shown++ < 60) printf "%s:%d: %s: %s\n", file, line, what, substr(text, 1, 140)
    line++
  }
  END { if (!shown) print "none" }'
