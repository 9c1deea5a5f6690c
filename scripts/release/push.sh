#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage push "Pushes the images' layouts and the chart to the registry. Digests stay what they are in the layouts."
}
release_options usage "$@"

crane=$(release_tool crane) helm=$(release_tool helm)
plain=()
if ((dry_run)); then plain=(--plain-http); fi
for image in "${RELEASE_IMAGES[@]}"; do
  name=$(image_name "$image"):$version
  expected=$(digest_of_layout "$image")
  quietly "$crane" push --index "$layouts/$image" "$name"
  found=$("$crane" digest "$name")
  [[ $found == "$expected" ]] || die "$name has the digest $found in the registry, $expected in its layout"
  say "pushed $name@$found"
done
quietly "$helm" push "${plain[@]}" "$assets/synergy-$version.tgz" "oci://$registry/charts"
say "pushed $registry/charts/synergy:$version@$("$crane" digest "$registry/charts/synergy:$version")"
