#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/cross.sh [--tests]

Builds the programs for the architecture that this machine does not have, of amd64 and arm64, into build/ARCHITECTURE/bin,
where scripts/images.sh finds them. The compiler is not emulated, so this takes no longer than a build for this machine. The
libraries of the other architecture are Debian's, unpacked in ${XDG_CACHE_HOME:-~/.cache}/synergy. scripts/setup.sh --cross
installs what this script needs.

  --tests      also build the unit tests of the pure half, and run them emulated
  -h, --help   this text
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/output.sh
source "$here/lib/output.sh"
# shellcheck source=lib/programs.sh
source "$here/lib/programs.sh"
# shellcheck source=lib/packages.sh
source "$here/lib/packages.sh"
# shellcheck source=lib/image.sh
source "$here/lib/image.sh"
# shellcheck source=lib/architecture.sh
source "$here/lib/architecture.sh"
# shellcheck source=lib/sysroot.sh
source "$here/lib/sysroot.sh"

# Folders of tests/unit and research/tests in which tests need no socket and start no program.
TESTED=(core inventory profile progress solver cluster admission policy allocation engine sim baseline simulators json wire)

tests=OFF
for argument in "$@"; do
  case $argument in
    -h | --help) usage && exit 0 ;;
    --tests) tests=ON ;;
    *) die "cross.sh has no option $argument (--help lists them)" ;;
  esac
done
architecture=$(other_architecture)
machine=$(machine_of "$architecture")
command -v "$machine-linux-gnu-g++" >/dev/null || die "$machine-linux-gnu-g++ is missing: run scripts/setup.sh --cross"

set_up_sysroot "$architecture"
cd "$REPOSITORY"
build=build/$architecture
# These settings let the compiler cache also hit for clones in other folders.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
# The configuration is fresh, because CMake would remember libraries that have been replaced.
cmake --fresh --preset release -B "$build" -DSYNERGY_TESTS=$tests -DSYNERGY_UNIT_TESTS=$tests -DSYNERGY_RESEARCH=$tests --toolchain cmake/cross.cmake -DSYNERGY_MACHINE="$machine" \
  -DSYNERGY_SYSROOT="$(sysroot_folder "$architecture")" >/dev/null
cmake --build "$build" --target programs
say "the programs for $architecture are in $build/bin"
[[ $tests == ON ]] || exit 0
command -v "qemu-$machine-static" >/dev/null || die "qemu-$machine-static is missing: run scripts/setup.sh --cross"
cmake --build "$build" --target "${TESTED[@]/%/_test}"
ctest --test-dir "$build" --output-on-failure -j2 --tests-regex "^($(IFS='|' && echo "${TESTED[*]}"))_test\$"
