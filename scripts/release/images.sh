#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage images "Builds the images into OCI layouts, FOLDER/images/NAME, each an index over the architectures."
}
release_options usage "$@"

arguments=()
for architecture in "${architectures[@]}"; do arguments+=(--programs "$(programs_of "$architecture")"); done
"$here/images.sh" "${arguments[@]}" --arch "$(IFS=, && echo "${architectures[*]}")" --layouts "$layouts"
for image in "${RELEASE_IMAGES[@]}"; do say "$(image_name "$image")@$(digest_of_layout "$image")"; done
