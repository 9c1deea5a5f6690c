#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage notes "Writes FOLDER/notes.md: the version's section of CHANGELOG.md, how to install it, and the images' digests."
}
release_options usage "$@"

# sizes IMAGE: prints the size of the compressed layers for each architecture.
sizes() {
  local folder=$layouts/$1
  jq -r '.manifests[] | "\(.platform.architecture) \(.digest | sub(":"; "/"))"' "$folder/index.json" |
    while read -r architecture manifest; do
      jq -r --arg name "$architecture" '"\($name) \([.layers[].size] | add / 1e6 | ceil) MB"' "$folder/blobs/$manifest"
    done | paste --serial --delimiters ';' | sed 's/;/, /g'
}

changes=$(awk -v heading="## $version" '/^## /{ inside = $0 == heading } inside && !/^## /' "$REPOSITORY/CHANGELOG.md")
[[ $changes == *[![:space:]]* ]] || die "CHANGELOG.md has no section \"## $version\""
{
  printf '%s\n' "$changes"
  printf '\n## Install\n\n```sh\n'
  printf 'helm install synergy oci://%s/charts/synergy --version %s \\\n  --namespace synergy-system --create-namespace --wait\n```\n' "$registry" "$version"
  printf '\nUpgrade:\n\n```sh\n'
  printf 'helm upgrade synergy oci://%s/charts/synergy --version %s \\\n  --namespace synergy-system --wait --reset-then-reuse-values\n```\n' \
    "$registry" "$version"
  printf '\n## Images\n\n| image | digest | compressed |\n| --- | --- | --- |\n'
  for image in "${RELEASE_IMAGES[@]}"; do
    printf '| %s:%s | %s | %s |\n' "$(image_name "$image")" "$version" "$(digest_of_layout "$image")" "$(sizes "$image")"
  done
} >"$out/notes.md"
say "wrote $out/notes.md"
