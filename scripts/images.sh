#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/images.sh [--programs FOLDER | --source] [--output ARCHIVE]

Builds the images of the Dockerfile without a registry and without a daemon (buildah), as root, into one archive that
`scripts/cluster.sh load-image` and `ctr images import` take:

  docker.io/synergy/{extender,controller,deviceplugin,nodeagent,cli}:VERSION
  registry.k8s.io/kube-scheduler:VERSION   the locally built kube-scheduler under the official image's name

Their base, debian:bookworm-slim, cannot be pulled everywhere: it is made by debootstrap under that name, once, and kept in
${XDG_CACHE_HOME:-~/.cache}/synergy/images.

  --programs FOLDER   put in the programs of FOLDER (build/release/bin) instead of building them
  --source            build the programs inside of the image, as `docker build` does; about 12 minutes on two cores
  --output ARCHIVE    default: build/images.tar
  -h, --help          this text
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/output.sh
source "$here/lib/output.sh"
# shellcheck source=lib/programs.sh
source "$here/lib/programs.sh"

TARGETS=(extender controller deviceplugin nodeagent cli)
BASE=docker.io/library/debian:bookworm-slim

programs=$REPOSITORY/build/release/bin source=0 output=$REPOSITORY/build/images.tar
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --programs) need_value "$1" "${2-}" && programs=$2 && shift ;;
    --source) source=1 ;;
    --output) need_value "$1" "${2-}" && output=$2 && shift ;;
    *) die "images.sh has no option $1 (--help lists them)" ;;
  esac
  shift
done
((EUID == 0)) || die "not root: run sudo scripts/images.sh"
for name in buildah debootstrap jq; do
  command -v "$name" >/dev/null || die "$name is missing: run scripts/setup.sh"
done
version=$(sed -n 's/^project(synergy VERSION \([0-9.]*\).*/\1/p' "$REPOSITORY/CMakeLists.txt")
kube_folder=$(kube_folder)
[[ -x $kube_folder/kube-scheduler ]] || die "kube-scheduler is not built yet: run scripts/setup.sh"

work=$CACHE/images
mkdir -p "$work"
exec 7<"$work"
flock --nonblock 7 || { say "another images.sh is running; waiting for it"; flock 7; }
# A store of its own: nothing of the machine's containers is touched.
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/store"\nrunroot = "%s/run"\n' "$work" "$work" >"$work/storage.conf"
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot

# The base as Debian makes its slim one: the essential packages and apt, without documentation.
make_base() {
  local container system=$work/system
  if buildah inspect --type image "$BASE" &>/dev/null; then return; fi
  say "making $BASE"
  rm -rf "$system"
  debootstrap --variant=minbase bookworm "$system" >"$work/debootstrap.log" || die "debootstrap failed: $work/debootstrap.log"
  rm -rf "$system"/var/{cache/apt,lib/apt/lists,log}/* "$system"/usr/share/{doc,man,info,locale,lintian}/*
  container=$(buildah from scratch)
  tar --create --directory "$system" --file "$work/base.tar" .
  buildah add --quiet "$container" "$work/base.tar" / >/dev/null
  buildah config --cmd bash "$container"
  buildah commit --quiet --rm "$container" "$BASE" >/dev/null
  rm -r "$system" "$work/base.tar"
}

# build TARGET CONTEXT [OPTIONS]
build() {
  local target=$1 context=$2
  shift 2
  # Docker's format knows HEALTHCHECK.
  buildah bud --quiet --layers --pull-never --format docker --target "$target" --tag "synergy/$target:$version" \
    --label "org.opencontainers.image.version=$version" --file "$REPOSITORY/Dockerfile" "$@" "$context" >/dev/null
}

build_scheduler() {
  local context=$work/context-scheduler
  rm -rf "$context" && mkdir "$context"
  cp "$kube_folder/kube-scheduler" "$context"
  printf 'FROM %s\nCOPY kube-scheduler /usr/local/bin/\nUSER 65532:65532\nENTRYPOINT ["kube-scheduler"]\n' "$BASE" >"$context/Dockerfile"
  buildah bud --quiet --layers --pull-never --tag "registry.k8s.io/kube-scheduler:$(kubernetes_version)" "$context" >/dev/null
  rm -r "$context"
}

# write_archive: all of them in one OCI archive, which holds what they share once. The names are put where containerd looks.
write_archive() {
  local layout=$work/layout target
  rm -rf "$layout"
  for target in "${TARGETS[@]}"; do
    buildah push --quiet --disable-compression "synergy/$target:$version" "oci:$layout:docker.io/synergy/$target:$version" >/dev/null
  done
  buildah push --quiet --disable-compression "registry.k8s.io/kube-scheduler:$(kubernetes_version)" \
    "oci:$layout:registry.k8s.io/kube-scheduler:$(kubernetes_version)" >/dev/null
  jq '.manifests[].annotations |= . + {"io.containerd.image.name": .["org.opencontainers.image.ref.name"]}' \
    "$layout/index.json" >"$layout/index.new"
  mv "$layout/index.new" "$layout/index.json"
  mkdir -p "$(dirname "$output")"
  tar --create --directory "$layout" --file "$output" .
  rm -r "$layout"
}

make_base
if ((source)); then
  # An unpacked archive has no commit to name.
  revision=
  if [[ -e $REPOSITORY/.git ]]; then revision=$(git -C "$REPOSITORY" rev-parse --short=12 HEAD); fi
  for target in "${TARGETS[@]}"; do
    build "$target" "$REPOSITORY" --build-arg "REVISION=$revision"
  done
else
  context=$work/context
  rm -rf "$context" && mkdir -p "$context/programs"
  cp "$programs"/synergy "$programs"/synergy-* "$context/programs/" || die "the programs are not in $programs: build them first"
  for target in "${TARGETS[@]}"; do
    build "$target" "$context" --build-arg PROGRAMS=prebuilt
  done
  rm -r "$context"
fi
build_scheduler
write_archive
base_size=$(buildah inspect --type image --format '{{.FromImageID}}' "$BASE" >/dev/null && buildah images --json "$BASE" | jq -r '.[0].size')
say "$output holds, on a base of $base_size:"
buildah images --json | jq -r '.[] | select(.names != null) | "  \(.names[0] | sub("^localhost/"; "docker.io/"))  \(.size)"' >&2
