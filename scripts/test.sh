#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--only PART]... [--skip-setup]
       scripts/test.sh --long [--skip-setup]
       scripts/test.sh --for PATH... [--skip-setup]
       scripts/test.sh --stress [TIMES] [--load N] [--skip-setup]

Sets up, builds and runs the gate, which every change has to pass. Its parts:

  lint      formatting, layering, names, shell, Go (scripts/lint.sh --fast)
  tests     the release build's tests: property, integration, lint and cluster
  go        the tests of the Go programs (oracle, benchmarks)
  asan      the unit tests under the address and undefined sanitizers
  tsan      the unit tests of code that threads share, under the thread sanitizer

go, asan and tsan run beside the tests, on the CPU that these leave; their output comes at the end.

  --only PART    only this part; can be given more than once. PART can also be forge: the tests without those that need a node
                 on control groups v1 or a machine in QEMU, which a forge's runners do not have. Or a part of the long tier:
                 long      tests that add evidence: soak, profiling, speeds on real nodes and all tests that are marked so,
                           with ten times as many generated inputs
                 tidy      clang-tidy (scripts/lint.sh) and go vet; about fifteen minutes
                 versions  the cluster tests on the older versions of Kubernetes in tests/versions, whose programs it builds
                           (10 minutes each on two cores)
                 cross     the programs for the other architecture (arm64 on amd64): cross-compiles them, runs the unit tests
                           of the pure half in QEMU, pushes images of both architectures to a registry and runs their
                           programs (scripts/cross.sh; as root, about 20 minutes on two cores)
  --long         long, tidy and versions
  --for PATH...  those of the gate's tests that a change to these files can affect (tests/affected.py)
  --stress       run the gate until each test has passed TIMES times in a row (20). It continues where it was interrupted; a
                 test that fails starts counting again
  --load N       meanwhile run N processes that each keep a processor busy
  --skip-setup   do not install anything

The first run on a machine also builds the programs of the test cluster (8 to 18 minutes). When a cluster test fails, the
cluster's state is stored in build/release/failures. Results are in build/*/results.xml; `tests/results.py costs FILE` makes
a table of them. The exit status is 1 if anything failed.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$(dirname "$here")"
# shellcheck source=scripts/lib/output.sh
source scripts/lib/output.sh
# shellcheck source=scripts/lib/disk.sh
source scripts/lib/disk.sh
# shellcheck source=scripts/lib/beside.sh
source scripts/lib/beside.sh

FAILURES=build/release/failures
JOBS=${SYNERGY_TEST_JOBS:-4} # cluster tests wait most of the time

parts=() paths=() setup=1 stress=0 load=0
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --only) need_value --only "${2-}" && parts+=("$2") && shift ;;
    --long) parts+=(long tidy versions) ;;
    --for)
      while [[ -n ${2-} && $2 != --* ]]; do paths+=("$2") && shift; done
      ((${#paths[@]})) || die "--for needs paths of files that were changed"
      ;;
    --stress)
      stress=20
      if [[ ${2-} =~ ^[0-9]+$ ]]; then stress=$2 && shift; fi
      ;;
    --load) need_number --load "${2-}" 0 64 && load=$2 && shift ;;
    --skip-setup) setup=0 ;;
    *) die "test.sh has no option $1 (--help lists them)" ;;
  esac
  shift
done

# These settings let the compiler cache also hit for clones in other folders.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true

# build PRESET [TARGET [OPTION...]]: configures and builds.
build() {
  mkdir -p "build/$1/.cmake/api/v1/query" && touch "build/$1/.cmake/api/v1/query/codemodel-v2" &&
    cmake --preset "$1" "${@:3}" >/dev/null && cmake --build --preset "$1" --target "${2-all}"
}

# run_tests PRESET OPTION...: writes the results to build/PRESET/results.xml.
run_tests() {
  ctest --preset "$1" --output-junit "$PWD/build/$1/results.xml" --test-output-size-passed 65536 --test-output-truncation head \
    --no-tests=ignore "${@:2}"
}

# Runs the cluster tests on each older Kubernetes, whose programs it builds. Continues with the next
# version after a failure.
test_versions() {
  local folder status=0
  for folder in tests/versions/*; do
    (
      export SYNERGY_KUBERNETES=${folder##*/}
      bash -c 'set -euo pipefail
        for piece in output programs build; do source "scripts/lib/$piece.sh"; done
        set_up_kubernetes' && run_tests release -L cluster -j "$JOBS"
    ) || status=$?
    mv build/release/results.xml "build/release/results-${folder##*/}.xml"
  done
  return $status
}

test_cross() {
  if ((setup)); then scripts/setup.sh --no-cluster --cross || return; fi
  build release programs && scripts/cross.sh --tests && ctest --preset release -C cross -L cross
}

# Runs tests with more generated inputs, and restores the gate's number afterwards.
test_long() {
  local status=0
  build release all -DSYNERGY_PROPERTY_PARAMS="seed=20260104 max_success=3000" &&
    SYNERGY_TIER=long run_tests release -C long -j "$JOBS" || status=$?
  cmake --preset release -USYNERGY_PROPERTY_PARAMS >/dev/null
  return $status
}

# Uses the flags of scripts/lib/build.sh, so that the parts of Kubernetes that both need are
# compiled only once. go vet checks all of Kubernetes to report on our few packages, so it is in the
# long tier.
go_tests() { (cd tests && GOFLAGS='-trimpath -gcflags=all=-dwarf=false' go "$@" ./...); }

run_part() {
  case $1 in
    lint) scripts/lint.sh --fast ;;
    tests) build release && run_tests release -j "$JOBS" ;;
    forge) build release && run_tests release -j "$JOBS" -L 'unit|property|integration|lint|simulated' ;;
    go) go_tests test -vet=off ;;
    asan | tsan) build "$1" unit_tests && run_tests "$1" -j2 ;;
    long) test_long ;;
    tidy) scripts/lint.sh && go_tests vet ;;
    versions) build release && test_versions ;;
    cross) test_cross ;;
    *) die "there is no part $1 (--help lists them)" ;;
  esac
}

failed=()
# part NAME COMMAND...: runs a part of the gate, and records it if it fails.
part() {
  local started=$SECONDS name=$1
  say "== $name"
  "${@:2}" || failed+=("$name")
  say "== $name took $((SECONDS - started)) s; $(free_mib .) MiB of disk are left"
}

run_gate() {
  local log=build/beside.log
  rm -rf "$FAILURES" build/*/results.xml
  part lint run_part lint
  part build build release
  ((${#failed[@]} == 0)) || return 0
  begin_beside "$log" scripts/test.sh --skip-setup --only go --only asan --only tsan
  part tests run_part tests
  part "what ran beside them" finish_beside "$log"
}

# of_names NAME...: prints a pattern that matches exactly these tests.
of_names() { (IFS='|' && printf '^(%s)$' "$*"); }

run_affected() {
  local preset names
  part lint run_part lint
  part build build release
  for preset in release asan tsan; do
    # CMake knows the program of a unit test only when its build folder is configured.
    [[ $preset == release ]] || build "$preset" help >/dev/null || return
    mapfile -t names < <(python3 tests/affected.py --build "build/$preset" "${paths[@]}")
    say "$preset: ${#names[@]} tests can see this change"
    ((${#names[@]})) || continue
    [[ $preset == release ]] || part "build $preset" build "$preset" unit_tests
    part "$preset" run_tests "$preset" -j "$JOBS" -R "$(of_names "${names[@]}")"
  done
}

run_stressed() {
  local preset names passes left=1 round=0 processes=()
  for ((; load > 0; load--)); do
    setsid bash -c 'while :; do :; done' &
    processes+=($!)
  done
  # shellcheck disable=SC2064 # these processes
  if ((${#processes[@]})); then trap "kill ${processes[*]}" EXIT; fi
  { build release && build asan unit_tests && build tsan unit_tests; } || die "the build failed"
  while ((left)); do
    say "== round $((++round))"
    left=0
    for preset in release asan tsan; do
      passes=build/$preset/passes.json
      names=()
      if [[ -e $passes ]]; then
        mapfile -t names < <(python3 tests/results.py left "$passes" "$stress")
        ((${#names[@]})) || continue
        names=(-R "$(of_names "${names[@]}")")
      fi
      left=1
      run_tests "$preset" -j "$JOBS" "${names[@]}" || failed+=("$preset, round $round")
      python3 tests/results.py count "$passes" "build/$preset/results.xml"
    done
  done
}

tell_failures() {
  local file
  for file in "$FAILURES"/*/summary.txt; do
    [[ -e $file ]] || continue
    say "== $file"
    cat "$file" >&2
  done
  for file in build/*/results.xml; do
    [[ ! -e $file ]] || python3 tests/results.py failed "$file" >&2
  done
}

release=()
[[ " ${parts[*]} " != *" long "* ]] || release=(--release --operators)
if ((setup)); then part set-up scripts/setup.sh "${release[@]}"; fi
if ((stress)); then
  run_stressed
elif ((${#paths[@]})); then
  run_affected
elif ((${#parts[@]})); then
  for name in "${parts[@]}"; do part "$name" run_part "$name"; done
else
  run_gate
fi
if ((${#failed[@]})); then
  tell_failures
  die "failed: ${failed[*]}"
fi
say "all of it passed"
