#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/lint.sh [--fast | --fix]

Checks the tree: C++ format (clang-format-19), widths of lines, layering, structure, names, words, prose, headers,
documentation, shell (shellcheck), workflows (actionlint, which is built once), Go format (gofmt), and clang-tidy-19 over
src, the programs and research, which takes several minutes. All checks run; the exit status is 1 if any of them finds
something.

  --fast       leave clang-tidy out
  --fix        only write C++ and Go files as their formatters would
  -h, --help   this text
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$(dirname "$here")"
# shellcheck source=scripts/lib/output.sh
source scripts/lib/output.sh
# shellcheck source=scripts/lib/programs.sh
source scripts/lib/programs.sh
# shellcheck source=scripts/lib/build.sh
source scripts/lib/build.sh
export PYTHONDONTWRITEBYTECODE=1

fast=0 fix=0
for argument in "$@"; do
  case $argument in
    --fast) fast=1 ;;
    --fix) fix=1 ;;
    -h | --help) usage && exit 0 ;;
    *) die "lint.sh has no option $argument (--help lists them)" ;;
  esac
done

# Prints the files that match these patterns: tracked files, and new files that are not ignored.
files() { git ls-files -z --cached --others --exclude-standard -- "$@"; }

check_shell() { files '*.sh' | xargs -0 shellcheck; }

check_workflows() (set_up_actionlint && "$(actionlint_folder)/actionlint" -color=false)

check_go_format() {
  local unformatted
  unformatted=$(gofmt -l tests scripts)
  [[ -z $unformatted ]] || { printf '%s: differs from what gofmt would write\n' "$unformatted" && return 1; }
}

# Reads the compiler's arguments from the dev preset, of which only generated sources are built.
check_tidy() {
  cmake --preset dev >/dev/null && cmake --build build/dev --target protocol_sources >/dev/null || return
  files 'src/*.cc' 'extender/*.cc' 'controller/*.cc' 'deviceplugin/*.cc' 'nodeagent/*.cc' 'cli/*.cc' 'research/*.cc' \
    ':!research/tests' |
    xargs -0 -n 1 -P "${LINT_JOBS:-$(nproc)}" nice clang-tidy-19 -p build/dev --quiet 2> >(grep -vE 'warnings? (generated|treated)' >&2)
}

if ((fix)); then
  python3 tests/lint/cpp_format.py --fix .
  gofmt -w tests scripts
  exit
fi

failed=()
# check NAME COMMAND...: runs a check, and records it if it fails.
check() {
  local name=$1
  shift
  say "== $name"
  "$@" || failed+=("$name")
}

check "C++ format" python3 tests/lint/cpp_format.py .
check widths python3 tests/lint/widths.py .
check layering python3 tests/lint/layering.py .
check structure python3 tests/lint/structure.py .
check names python3 tests/lint/names.py .
check words python3 tests/lint/words.py .
check prose python3 tests/lint/prose.py .
check places python3 tests/lint/places.py .
check headers python3 tests/lint/headers.py .
check documentation python3 tests/lint/docs.py .
check shell check_shell
check workflows check_workflows
check "Go format" check_go_format
((fast)) || check clang-tidy check_tidy

if ((${#failed[@]})); then die "found something: ${failed[*]}"; fi
say "nothing found"
