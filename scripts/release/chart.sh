#!/usr/bin/env bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

usage() {
  release_usage chart "Packs the chart with the registry and the digests of this release, and renders it as manifests.yaml."
}
release_options usage "$@"

helm=$(release_tool helm)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp --recursive "$REPOSITORY/charts/synergy" "$work/chart"
digests=()
for image in "${RELEASE_IMAGES[@]}"; do digests+=("$image=$(digest_of_layout "$image")"); done
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/lib/released_chart.py" "$work/chart" "$registry" "$source_url" "${digests[@]}"
"$helm" lint --strict "$work/chart" >"$work/lint" || { cat "$work/lint" >&2 && die "the released chart has errors"; }
"$helm" package "$work/chart" --destination "$work" >/dev/null
# Helm's archive contains the time at which it was made, so it is packed again.
tar --extract --touch --directory "$work" --file "$work/synergy-$version.tgz"
archive "$work" "$assets/synergy-$version.tgz" synergy
say "wrote $assets/synergy-$version.tgz"

{
  printf '# Synergy %s, with kube-scheduler %s. If your cluster is older than that, or newer by two minor\n' "$version" "$(kubernetes_version)"
  printf '# versions, change its image to your version.\n#   kubectl apply --server-side -f manifests.yaml\n'
  printf 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: synergy-system\n  labels:\n'
  printf '    pod-security.kubernetes.io/%s: privileged\n' enforce audit warn
  "$helm" template synergy "$assets/synergy-$version.tgz" --namespace synergy-system --skip-tests --kube-version "$(kubernetes_version)" \
    --set crds.keep=false | sed '/^ *helm\.sh\/chart: /d; /^ *app\.kubernetes\.io\/managed-by: Helm$/d'
} >"$assets/manifests.yaml"
say "wrote $assets/manifests.yaml"
