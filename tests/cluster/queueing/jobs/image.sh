#!/usr/bin/env bash
# Makes a container image with Debian's Open MPI and PyPI's Ray, synergy.test/jobs:1, once for each recipe, and prints the name
# of its archive, for scripts/cluster.sh load-image. It needs root, downloads 200 MB and takes a few minutes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/image.sh
source "$here/../../../../scripts/lib/image.sh"

PACKAGES=openmpi-bin,openssh-server,python3,python3-mpi4py,wget

# As MPI operator's own image has it: workers have new addresses each time, and keys of a Secret.
configure_ssh() {
  mkdir -p run/sshd
  printf '%s\n' 'StrictHostKeyChecking no' 'UserKnownHostsFile /dev/null' 'LogLevel ERROR' >etc/ssh/ssh_config.d/jobs.conf
  echo 'StrictModes no' >etc/ssh/sshd_config.d/jobs.conf
}

make_files() (
  debootstrap --variant=minbase --include="$PACKAGES" bookworm "$1"
  /usr/bin/python3 -m pip install --no-cache-dir --no-compile --target "$1/opt/ray" --requirement "$here/requirements.txt"
  cd "$1"
  rm -rf var/{cache/apt,lib/apt/lists,log}/* usr/share/{doc,man,info,locale}/* dev/* etc/{hostname,resolv.conf}
  configure_ssh
)

recipe=$(cat "$here/image.sh" "$here/requirements.txt" | sha256sum)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/synergy
archive=$cache/jobs-image-${recipe:0:12}.tar
mkdir -p "$cache"
exec 8>"$cache/jobs-image.lock"
flock 8
if [[ ! -e $archive ]]; then
  folder=$(mktemp --directory --tmpdir="$cache")
  trap 'rm -r "$folder"' EXIT
  make_files "$folder/files" >&2
  archive_image "$folder" synergy.test/jobs:1 \
    '{"Env": ["PYTHONPATH=/opt/ray:/jobs", "PATH=/opt/ray/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}' \
    "$folder/archive.tar"
  mv "$folder/archive.tar" "$archive"
fi
printf '%s\n' "$archive"
