#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage sbom "Writes a bill of materials (SPDX, by syft) for each image and architecture."
}
release_options usage "$@"

syft=$(release_tool syft)
# Scanners look up packages; files would be most of the text.
export SYFT_CHECK_FOR_APP_UPDATE=false SYFT_FILE_METADATA_SELECTION=none
for image in "${RELEASE_IMAGES[@]}"; do
  for architecture in "${architectures[@]}"; do
    file=$assets/synergy-$image-$version-linux-$architecture.spdx.json
    # Syft writes the time and a random name. Here both follow from the image.
    "$syft" scan --quiet "oci-dir:$layouts/$image" --platform "linux/$architecture" --source-name "synergy-$image" \
      --source-version "$version" --output spdx-json |
      jq --sort-keys --arg date "$(release_date)" --arg name "$source_url/sbom/$image-$version-$architecture-$(digest_of_layout "$image")" \
        '.creationInfo.created = $date | .documentNamespace = $name' >"$file"
    say "wrote $file ($(jq '.packages | length' "$file") packages)"
  done
done
