#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--only PART]... [--skip-setup]

Sets up, builds and runs every test. Parts, in order:

  lint      formatting, layering, names, shell, Go (scripts/lint.sh --fast)
  tests     the release build's tests: property, integration, lint and cluster
  go        the tests of the Go programs (oracle, benchmarks)
  asan      the unit tests under the address and undefined sanitizers
  tsan      the unit tests of what threads share under the thread sanitizer
  tidy      clang-tidy as well (scripts/lint.sh); about ten minutes, so only when asked for
  versions  the chart on the older versions of Kubernetes in tests/versions, whose programs it builds (10 minutes each on
            two cores), so only when asked for
  cross     the programs for the other architecture (arm64 on amd64): cross-compiled, the unit tests of what decides in QEMU,
            and images of both architectures in a registry, whose programs run (scripts/cross.sh; as root, about 20 minutes on
            two cores), so only when asked for

  --only PART    just this part; may be given more than once
  --skip-setup   do not install anything

The first run on a machine builds the Kubernetes programs as well (5 to 15 minutes with all else that the test cluster runs). Exit status 1 when anything failed.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$(dirname "$here")"
# shellcheck source=scripts/lib/output.sh
source scripts/lib/output.sh

parts=() setup=1
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --only) need_value --only "${2-}" && parts+=("$2") && shift ;;
    --skip-setup) setup=0 ;;
    *) die "test.sh has no option $1 (--help lists them)" ;;
  esac
  shift
done
((${#parts[@]})) || parts=(lint tests go asan tsan)

# So that clones in other folders find what was compiled before.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true

# build PRESET [TARGET]
build() {
  cmake --preset "$1" >/dev/null && cmake --build --preset "$1" --target "${2-all}"
}

build_versions() {
  local folder
  for folder in tests/versions/*; do
    SYNERGY_KUBERNETES=${folder##*/} bash -c 'set -euo pipefail
      for piece in output programs build; do source "scripts/lib/$piece.sh"; done
      set_up_kubernetes' || return
  done
}

test_cross() {
  if ((setup)); then scripts/setup.sh --no-cluster --cross || return; fi
  build release programs && scripts/cross.sh --tests && ctest --preset release -C cross -L cross
}

# With the flags of scripts/lib/build.sh, so that what both need of Kubernetes is compiled once.
test_go() (
  cd tests && export GOFLAGS='-trimpath -gcflags=all=-dwarf=false' && nice go vet ./... && nice go test ./...
)

run_part() {
  case $1 in
    tests) build release && ctest --preset release -j3 ;;
    go) test_go ;;
    asan | tsan) build "$1" unit_tests && ctest --preset "$1" -j2 ;;
    lint) scripts/lint.sh --fast ;;
    tidy) scripts/lint.sh ;;
    versions) build release && build_versions && ctest --preset release -C versions -L versions ;;
    cross) test_cross ;;
    *) die "there is no part $1 (--help lists them)" ;;
  esac
}

if ((setup)); then scripts/setup.sh; fi
failed=()
for part in "${parts[@]}"; do
  say "== $part"
  started=$SECONDS
  run_part "$part" || failed+=("$part")
  say "== $part took $((SECONDS - started)) s"
done
if ((${#failed[@]})); then die "failed: ${failed[*]}"; fi
say "all of it passed: ${parts[*]}"
