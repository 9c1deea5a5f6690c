#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/chart.sh [--check | --push REGISTRY [--plain-http]]

Generates files from charts/synergy: manifests/ (the rendered chart, for users without Helm) and the table of values in the
chart's README. scripts/setup.sh builds the Helm that it needs.

  --check           write nothing; fail if a file is not as it would be generated
  --push REGISTRY   write nothing; push the chart as the OCI package oci://REGISTRY/charts/synergy:VERSION
                    (SYNERGY_HELM_BIN=FOLDER uses your own Helm and the credentials from its `helm registry login`)
  --plain-http      the registry speaks HTTP
  -h, --help        this text
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/output.sh
source "$here/lib/output.sh"
# shellcheck source=lib/programs.sh
source "$here/lib/programs.sh"

check=() registry='' plain=()
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --check) check=(--check) ;;
    --push) need_value "$1" "${2-}" && registry=$2 && shift ;;
    --plain-http) plain=(--plain-http) ;;
    *) die "chart.sh has no option $1 (--help lists them)" ;;
  esac
  shift
done
helm=$(helm_folder)/helm
[[ -x $helm ]] || die "helm is not built yet: run scripts/setup.sh"

if [[ -n $registry ]]; then
  folder=$(mktemp -d)
  trap 'rm -r "$folder"' EXIT
  "$helm" package "$REPOSITORY/charts/synergy" --destination "$folder" >/dev/null
  "$helm" push "${plain[@]}" "$folder"/synergy-*.tgz "oci://$registry/charts"
else
  version=$(kubernetes_version)
  PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/lib/chart.py" "$helm" "$version" "${check[@]}"
fi
