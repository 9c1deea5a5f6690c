#!/usr/bin/env bash
# The trainer as a container image, synergy.test/trainer:1, for scripts/cluster.sh load-image: image.sh TRAINER ARCHIVE
#
# A pod that uses it gives the trainer's flags as its container's args; the data set is made in /data.
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
