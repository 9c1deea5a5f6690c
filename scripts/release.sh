#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/release.sh --dry-run vX.Y.Z [OPTION]...
       scripts/release.sh vX.Y.Z --registry REGISTRY --source URL [OPTION]...

Makes a complete release, as root: programs, images, the chart, manifests, archives of the command line, a krew manifest,
bills of materials, notes, provenance, checksums and signatures. Pushes the images and the chart to the registry; writes the
files to publish beside them to FOLDER/assets, and the notes to FOLDER/notes.md. Each step is a script in scripts/release,
with the same arguments. scripts/setup.sh --no-cluster --cross --release installs what they need; RELEASING.md explains what to
do before and after.

Two runs with the same commit and the same packages make the same bytes, except for signatures.

  --dry-run          push to a registry on this machine, which keeps its data in FOLDER/registry, and sign with a key that is
                     then deleted. `scripts/release/registry.sh FOLDER/registry REGISTRY` serves the registry again
  --registry NAME    registry for the images (NAME/synergy/...) and the chart (NAME/charts/synergy). Dry run: 127.0.0.1:5000
  --source URL       the repository's https:// address; the files will be in URL/releases/download/vX.Y.Z
  --out FOLDER       default: out/vX.Y.Z
  --arch LIST        amd64, arm64, or both separated by a comma; default: both
  --programs FOLDER  take the programs from FOLDER instead of building them; once for each architecture
  -h, --help         this text
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/release.sh
source "$here/lib/release.sh"

release_options usage "$@"
((EUID == 0)) || die "not root: run sudo scripts/release.sh"
for step in programs archives images sbom chart notes provenance; do
  say "== $step"
  "$here/release/$step.sh" "$@"
done
if ((dry_run)); then
  "$here/release/registry.sh" "$out/registry" "$registry" &
  serving=$!
  trap 'kill $serving && wait $serving || true' EXIT
  until curl --silent --fail --output /dev/null "http://$registry/v2/"; do
    kill -0 $serving 2>/dev/null || die "the registry did not start: $(tail -1 "$out/registry.log")"
    sleep 0.1
  done
fi
for step in push sign; do
  say "== $step"
  "$here/release/$step.sh" "$@"
done
say "$out/assets holds what goes beside the images and the chart in $registry"
