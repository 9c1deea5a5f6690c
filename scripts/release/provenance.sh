#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage provenance "Writes what the release was made from (a SLSA predicate), and the checksums of all files."
}
release_options usage "$@"

jq -n --arg source "$source_url" --arg tag "$tag" --arg revision "$(release_revision)" \
  --arg builder "${RELEASE_BUILDER:-$source_url/blob/$tag/RELEASING.md}" '
  {buildDefinition: {
     buildType: "\($source)/blob/\($tag)/scripts/release.sh",
     externalParameters: {source: $source, tag: $tag},
     resolvedDependencies: [{uri: "git+\($source)@refs/tags/\($tag)", digest: {gitCommit: $revision}}]},
   runDetails: {builder: {id: $builder}}}' >"$assets/provenance.json"
rm -f "$assets"/SHA256SUMS*
(cd "$assets" && sha256sum -- * >"$out/SHA256SUMS" && mv "$out/SHA256SUMS" .)
say "wrote $assets/SHA256SUMS"
