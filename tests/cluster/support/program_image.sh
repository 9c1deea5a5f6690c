#!/usr/bin/env bash
# program_image.sh PROGRAM IMAGE ARCHIVE: packs a program and its libraries as a container image,
# for scripts/cluster.sh load-image
#
# The image is much smaller than the shipped ones, which install_test.py uses: a v2 node unpacks it
# in a second or two.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/image.sh
source "$here/../../../scripts/lib/image.sh"

program=$1 image=$2 archive=$3
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkdir -p "$folder"/files/{bin,etc,tmp}
cp "$program" "$folder/files/bin/"
while read -r library; do
  mkdir -p "$folder/files${library%/*}"
  cp --dereference "$library" "$folder/files$library"
done < <(ldd "$program" | grep -o '/[^ ]*')
archive_image "$folder" "$image" "{\"Entrypoint\": [\"/bin/${program##*/}\"]}" "$archive"
