#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage programs "Builds the programs for each architecture into FOLDER/programs, or copies those of --programs."
}
release_options usage "$@"

# shellcheck source=../lib/architecture.sh
source "$here/lib/architecture.sh"

# build ARCHITECTURE: builds the programs in build/ARCHITECTURE; the command line needs no
# libraries. The programs contain no path of this machine.
build() {
  export CXXFLAGS="-ffile-prefix-map=$REPOSITORY=/synergy"
  if [[ $1 == "$(image_architecture)" ]]; then
    (cd "$REPOSITORY" && cmake --fresh --preset release -B "build/$1" -DSYNERGY_TESTS=OFF -DSYNERGY_RESEARCH=OFF >/dev/null &&
      cmake --build "build/$1" --target programs)
  else
    "$here/cross.sh"
  fi
  "$here/static.sh" --arch "$1"
  cp "$REPOSITORY/build/static-$1/bin/synergy" "$REPOSITORY/build/$1/bin/synergy"
}

declare -A given=()
for folder in "${programs[@]}"; do
  architecture=$([[ ! -f $folder/synergy ]] || program_architecture "$folder/synergy")
  [[ -n $architecture ]] || die "--programs $folder holds no synergy for amd64 or arm64"
  given[$architecture]=$folder
done
for architecture in "${architectures[@]}"; do
  folder=${given[$architecture]-}
  if [[ -z $folder ]]; then
    build "$architecture"
    folder=$REPOSITORY/build/$architecture/bin
  fi
  mapfile -t missing < <(missing_programs "$folder" "${PROGRAMS[@]}")
  ((${#missing[@]} == 0)) || die "$folder does not hold ${missing[*]}"
  mkdir -p "$(programs_of "$architecture")"
  cp "${PROGRAMS[@]/#/$folder/}" "$(programs_of "$architecture")"
  say "programs for $architecture: $(programs_of "$architecture")"
done
