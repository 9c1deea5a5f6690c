#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage sign "Signs the images, the chart and the checksums, and attaches provenance and bills of materials to the images."
}
release_options usage "$@"

cosign=$(release_tool cosign) crane=$(release_tool crane)
# Without a key, cosign signs with the workflow's identity at the forge, and records the signature
# in public.
how=(--yes)
if ((dry_run)); then
  export COSIGN_PASSWORD=''
  (cd "$out" && rm -f cosign.key cosign.pub && quietly "$cosign" generate-key-pair)
  trap 'rm -f "$out/cosign.key"' EXIT
  # Signs without the services that make a signature public.
  "$cosign" signing-config create >"$out/signing-config.json"
  how=(--yes --key "$out/cosign.key" --signing-config "$out/signing-config.json")
fi
# registry_options: options for commands that read a registry.
registry_options=()
if ((dry_run)); then registry_options=(--allow-http-registry); fi

sign_image() { # NAME DIGEST
  quietly "$cosign" sign "${how[@]}" "${registry_options[@]}" --recursive "$1@$2"
  quietly "$cosign" attest "${how[@]}" "${registry_options[@]}" --type slsaprovenance1 --predicate "$assets/provenance.json" "$1@$2"
}

for image in "${RELEASE_IMAGES[@]}"; do
  name=$(image_name "$image")
  sign_image "$name" "$(digest_of_layout "$image")"
  for architecture in "${architectures[@]}"; do
    quietly "$cosign" attest "${how[@]}" "${registry_options[@]}" --type spdxjson \
      --predicate "$assets/synergy-$image-$version-linux-$architecture.spdx.json" \
      "$name@$("$crane" digest --platform "linux/$architecture" "$name:$version")"
  done
  say "signed $name:$version"
done
sign_image "$registry/charts/synergy" "$("$crane" digest "$registry/charts/synergy:$version")"
say "signed $registry/charts/synergy:$version"
quietly "$cosign" sign-blob "${how[@]}" --bundle "$assets/SHA256SUMS.sigstore.json" "$assets/SHA256SUMS"
say "signed $assets/SHA256SUMS"
