#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage archives "Packs the command line for each architecture, and writes the krew manifest that names the archives."
}
release_options usage "$@"

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
platforms=''
for architecture in "${architectures[@]}"; do
  name=synergy-$version-linux-$architecture.tar.gz
  rm -rf "${work:?}"/*
  cp "$(programs_of "$architecture")/synergy" "$REPOSITORY/LICENSE" "$work"
  # By these names kubectl finds its plugins and the programs that complete their arguments.
  ln -s synergy "$work/kubectl-synergy"
  ln -s synergy "$work/kubectl_complete-synergy"
  archive "$work" "$assets/$name" kubectl-synergy kubectl_complete-synergy LICENSE synergy
  platforms+="
  - selector:
      matchLabels: {os: linux, arch: $architecture}
    uri: $source_url/releases/download/$tag/$name
    sha256: $(sha256sum "$assets/$name" | cut -d ' ' -f 1)
    bin: synergy
    files:
    - {from: synergy, to: .}
    - {from: LICENSE, to: .}"
  say "wrote $assets/$name"
done
cat >"$assets/synergy.krew.yaml" <<YAML
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: synergy
spec:
  version: $tag
  homepage: $source_url
  shortDescription: Explain Synergy's decisions, and simulate clusters
  description: |
    Shows which CPU and memory pods with GPUs have and why, how far trainings have come and how fast
    they are, and what Synergy would bring on a trace of jobs.
  platforms:$platforms
YAML
say "wrote $assets/synergy.krew.yaml"
