#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/chart.sh [--check]

Makes from charts/synergy what is made of it: manifests/ (the chart rendered, for those without Helm) and the table of values
in the chart's README. scripts/setup.sh builds the Helm that it needs.

  --check      write nothing; fail when a file is not as it would be
  -h, --help   this text
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/output.sh
source "$here/lib/output.sh"
# shellcheck source=lib/programs.sh
source "$here/lib/programs.sh"

case "$*" in
  "" | --check) ;;
  -h | --help) usage && exit 0 ;;
  *) die "chart.sh takes --check or nothing (--help says more)" ;;
esac
helm=$(helm_folder)/helm
[[ -x $helm ]] || die "helm is not built yet: run scripts/setup.sh"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/lib/chart.py" "$helm" "$@"
