#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage publish "Makes the forge's release of the tag, with the notes and the files. GH_TOKEN has to allow that."
}
release_options usage "$@"

((!dry_run)) || die "publish.sh has no dry run: the files that it would publish are in $assets"
command -v gh >/dev/null || die "gh is missing: run scripts/setup.sh --no-cluster --release"
gh release create "$tag" --repo "$source_url" --title "Synergy $version" --notes-file "$out/notes.md" --verify-tag "$assets"/*
