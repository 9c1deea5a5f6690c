#!/usr/bin/env bash
# image.sh TRAINER ARCHIVE: packs the trainer as the container image synergy.test/trainer:1, for
# scripts/cluster.sh load-image
#
# A pod passes the trainer's flags as its container's args. The data set is in /data.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/image.sh
source "$here/../../../../scripts/lib/image.sh"

program=$1 archive=$2
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkdir -p "$folder/files/data" "$folder/files/tmp"
cp "$program" "$folder/files/trainer"
archive_image "$folder" synergy.test/trainer:1 '{"Entrypoint": ["/trainer"]}' "$archive"
