#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/static.sh [--arch ARCHITECTURE]

Builds the command line as one program that needs no libraries, build/static-ARCHITECTURE/bin/synergy, without symbols.
scripts/setup.sh --release installs what this script needs; for the other architecture, add --cross.

  --arch ARCHITECTURE   amd64 or arm64; default: this machine's
  -h, --help            this text
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
# shellcheck source=lib/static.sh
source "$here/lib/static.sh"

architecture=$(image_architecture)
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --arch)
      [[ ${2-} == amd64 || ${2-} == arm64 ]] || die "--arch takes amd64 or arm64"
      architecture=$2
      shift 2
      ;;
    *) die "static.sh has no option $1 (--help lists them)" ;;
  esac
done

build=build/static-$architecture
strip=(strip)
toolchain=()
if [[ $architecture != "$(image_architecture)" ]]; then
  machine=$(machine_of "$architecture")
  command -v "$machine-linux-gnu-g++" >/dev/null || die "$machine-linux-gnu-g++ is missing: run scripts/setup.sh --cross"
  set_up_sysroot "$architecture"
  toolchain=(--toolchain cmake/cross.cmake -DSYNERGY_MACHINE="$machine" -DSYNERGY_SYSROOT="$(sysroot_folder "$architecture")")
  strip=("$machine-linux-gnu-strip")
fi
make_archives "$architecture"
cd "$REPOSITORY"
# These settings let the compiler cache also hit for clones in other folders.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
cmake --fresh --no-warn-unused-cli --preset release -B "$build" -DSYNERGY_TESTS=OFF -DSYNERGY_RESEARCH=OFF "${toolchain[@]}" \
  -DSYNERGY_ARCHIVES="$(archives_folder "$architecture")" >/dev/null
cmake --build "$build" --target synergy
"${strip[@]}" "$build/bin/synergy"
say "the static command line for $architecture is $build/bin/synergy"
