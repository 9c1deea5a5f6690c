#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/images.sh [--programs FOLDER | --source] [--output ARCHIVE]
       scripts/images.sh [--programs FOLDER]... [--arch LIST] --push REGISTRY [--plain-http]
       scripts/images.sh --source [--arch LIST] --push REGISTRY [--plain-http]

Builds the images of the Dockerfile without a daemon (buildah), as root. Either into one archive that `scripts/cluster.sh
load-image` and `ctr images import` take, for this machine's architecture:

  synergy.test/synergy/{extender,controller,deviceplugin,nodeagent,cli}:VERSION
  registry.k8s.io/kube-scheduler:VERSION   the kube-scheduler that scripts/setup.sh has built, if it has, under the official
                                           image's name

or to a registry of yours, as manifest lists over the architectures: REGISTRY/synergy/{extender,...}:VERSION. `sudo buildah login
REGISTRY` comes before, if it asks who you are.

Their base, debian:bookworm-slim, cannot be pulled everywhere: it is made by debootstrap, once, and kept in
${XDG_CACHE_HOME:-~/.cache}/synergy/images.

  --programs FOLDER   put in the programs of FOLDER, which tell their architecture; once for each architecture. Default:
                      build/release/bin for this machine's, and for the other one build/ARCHITECTURE/bin (scripts/cross.sh)
  --source            build the programs inside of the image, as `docker build` does; about 12 minutes on two cores, and
                      hours for another architecture than this machine's, whose compiler is emulated
  --output ARCHIVE    default: build/images.tar
  --push REGISTRY     push the images instead
  --arch LIST         of amd64 and arm64, separated by commas; default: this machine's. Debian's packages of another one are
                      installed emulated; where the kernel has no interpreter for its programs, it has QEMU as long as this
                      runs (scripts/setup.sh --cross)
  --plain-http        the registry speaks HTTP
  -h, --help          this text
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/output.sh
source "$here/lib/output.sh"
# shellcheck source=lib/programs.sh
source "$here/lib/programs.sh"
# shellcheck source=lib/image.sh
source "$here/lib/image.sh"
# shellcheck source=lib/architecture.sh
source "$here/lib/architecture.sh"
# shellcheck source=lib/emulation.sh
source "$here/lib/emulation.sh"

TARGETS=(extender controller deviceplugin nodeagent cli)
# No registry can have a name in .test.
ARCHIVE_REGISTRY=synergy.test

given=() source=0 output=$REPOSITORY/build/images.tar
own=$(image_architecture) other=$(other_architecture) architectures=() registry='' tls=true
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --programs) need_value "$1" "${2-}" && given+=("$2") && shift ;;
    --source) source=1 ;;
    --output) need_value "$1" "${2-}" && output=$2 && shift ;;
    --push) need_value "$1" "${2-}" && registry=$2 && shift ;;
    --arch) need_value "$1" "${2-}" && IFS=, read -ra architectures <<<"$2" && shift ;;
    --plain-http) tls=false ;;
    *) die "images.sh has no option $1 (--help lists them)" ;;
  esac
  shift
done
((${#architectures[@]})) || architectures=("$own")

for architecture in "${architectures[@]}"; do
  [[ $architecture == amd64 || $architecture == arm64 ]] || die "--arch takes amd64 and arm64, not '$architecture'"
  [[ $architecture == "$own" || -n $registry ]] ||
    die "an archive is for this machine's architecture ($own): --arch $architecture goes with --push"
done

default_programs() { # ARCHITECTURE
  if [[ $1 == "$own" ]]; then echo "$REPOSITORY/build/release/bin"; else echo "$REPOSITORY/build/$1/bin"; fi
}

cure="a build makes those for $own in build/release/bin, scripts/cross.sh those for $other in build/$other/bin"

# find_programs: finds the folder with the programs of each architecture.
declare -A programs=()
find_programs() {
  local folder architecture missing program found
  for folder in "${given[@]}"; do
    architecture=
    if [[ -f $folder/synergy ]]; then architecture=$(program_architecture "$folder/synergy"); fi
    [[ -n $architecture ]] || die "$folder holds no synergy for $own or $other: $cure"
    [[ " ${architectures[*]} " == *" $architecture "* ]] ||
      die "the programs of $folder are for $architecture, not for ${architectures[*]}: $cure"
    [[ -z ${programs[$architecture]-} ]] || die "${programs[$architecture]} and $folder are both for $architecture"
    programs[$architecture]=$folder
  done
  for architecture in "${architectures[@]}"; do
    folder=${programs[$architecture]:=$(default_programs "$architecture")}
    mapfile -t missing < <(missing_programs "$folder" "${PROGRAMS[@]}")
    ((${#missing[@]} == 0)) || die "$folder does not hold ${missing[*]}: $cure"
    for program in "${PROGRAMS[@]}"; do
      found=$(program_architecture "$folder/$program")
      [[ $found == "$architecture" ]] || die "$folder/$program is for ${found:-another machine}, not for $architecture: $cure"
    done
  done
}

((source)) || find_programs
((EUID == 0)) || die "not root: run sudo scripts/images.sh"
for name in buildah debootstrap jq; do
  command -v "$name" >/dev/null || die "$name is missing: run scripts/setup.sh --no-cluster"
done
version=$(sed -n 's/^project(synergy VERSION \([0-9.]*\).*/\1/p' "$REPOSITORY/CMakeLists.txt")
# The program that scripts/setup.sh built; without it, nodes pull the official image.
scheduler=''
if [[ -z $registry ]] && { [[ -n ${SYNERGY_KUBE_BIN-} ]] || command -v go >/dev/null; }; then
  scheduler=$(kube_folder)/kube-scheduler
  [[ -x $scheduler ]] || scheduler=''
fi

# An existing archive of the same contents is kept.
recipe=
if [[ -z $registry ]] && ((!source)); then
  recipe=$(cat "$REPOSITORY"/{Dockerfile,CMakeLists.txt,scripts/images.sh} "${PROGRAMS[@]/#/${programs[$own]}/}" ${scheduler:+"$scheduler"} | sha256sum)
  if [[ -e $output && -e $output.recipe && $(<"$output.recipe") == "$recipe" ]]; then
    say "$output is made of these programs already"
    exit
  fi
fi

work=$CACHE/images
mkdir -p "$work"
exec 7<"$work"
flock --nonblock 7 || { say "another images.sh is running; waiting for it"; flock 7; }
# A store of its own leaves the machine's containers alone.
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/store"\nrunroot = "%s/run"\n' "$work" "$work" >"$work/storage.conf"
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot

base_of() { printf 'localhost/debian:bookworm-slim-%s\n' "$1"; }

# make_base ARCHITECTURE: makes the base image like Debian's slim one: the essential packages and
# apt, without documentation.
make_base() {
  local base container system=$work/system
  base=$(base_of "$1")
  if buildah inspect --type image "$base" &>/dev/null; then return; fi
  say "making $base"
  rm -rf "$system"
  debootstrap --arch="$1" --variant=minbase bookworm "$system" >"$work/debootstrap.log" || die "debootstrap failed: $work/debootstrap.log"
  rm -rf "$system"/var/{cache/apt,lib/apt/lists,log}/* "$system"/usr/share/{doc,man,info,locale,lintian}/*
  container=$(buildah from scratch)
  tar --create --directory "$system" --file "$work/base.tar" .
  buildah add --quiet "$container" "$work/base.tar" / >/dev/null
  buildah config --arch "$1" --cmd bash "$container"
  buildah commit --quiet --rm "$container" "$base" >/dev/null
  rm -r "$system" "$work/base.tar"
}

image_of() { printf 'localhost/synergy/%s:%s-%s\n' "$1" "$version" "$2"; } # TARGET ARCHITECTURE

# build ARCHITECTURE CONTEXT [OPTIONS]
build() {
  local architecture=$1 context=$2 target
  shift 2
  for target in "${TARGETS[@]}"; do
    # Docker's format has HEALTHCHECK.
    buildah bud --quiet --layers --pull-never --format docker --arch "$architecture" --build-arg "BASE=$(base_of "$architecture")" \
      --target "$target" --tag "$(image_of "$target" "$architecture")" --label "org.opencontainers.image.version=$version" \
      --file "$REPOSITORY/Dockerfile" "$@" "$context" >/dev/null
  done
}

build_scheduler() {
  local context=$work/context-scheduler
  rm -rf "$context" && mkdir "$context"
  cp "$scheduler" "$context"
  printf 'FROM %s\nCOPY kube-scheduler /usr/local/bin/\nUSER 65532:65532\nENTRYPOINT ["kube-scheduler"]\n' "$(base_of "$own")" >"$context/Dockerfile"
  buildah bud --quiet --layers --pull-never --tag "registry.k8s.io/kube-scheduler:$(kubernetes_version)" "$context" >/dev/null
  rm -r "$context"
}

# write_archive: writes all images into one OCI archive, which holds shared layers once, with the
# names where containerd looks.
write_archive() {
  local layout=$work/layout target
  rm -rf "$layout"
  for target in "${TARGETS[@]}"; do
    buildah push --quiet --disable-compression "$(image_of "$target" "$own")" \
      "oci:$layout:$ARCHIVE_REGISTRY/synergy/$target:$version" >/dev/null
  done
  [[ -z $scheduler ]] ||
    buildah push --quiet --disable-compression "registry.k8s.io/kube-scheduler:$(kubernetes_version)" \
      "oci:$layout:registry.k8s.io/kube-scheduler:$(kubernetes_version)" >/dev/null
  jq '.manifests[].annotations |= . + {"io.containerd.image.name": .["org.opencontainers.image.ref.name"]}' \
    "$layout/index.json" >"$layout/index.new"
  mv "$layout/index.new" "$layout/index.json"
  mkdir -p "$(dirname "$output")"
  rm -f "$output.recipe"
  tar --create --directory "$layout" --file "$output" .
  [[ -z $recipe ]] || printf '%s\n' "$recipe" >"$output.recipe"
  rm -r "$layout"
}

# push_lists: pushes each image under its name in the registry, as a list over the architectures.
push_lists() {
  local target list architecture
  for target in "${TARGETS[@]}"; do
    list=localhost/synergy/$target:$version
    buildah manifest rm "$list" &>/dev/null || true # of a run that was interrupted
    buildah manifest create "$list" >/dev/null
    for architecture in "${architectures[@]}"; do
      buildah manifest add "$list" "containers-storage:$(image_of "$target" "$architecture")" >/dev/null
    done
    # The list has the format of its images.
    buildah manifest push --quiet --all --rm --format v2s2 --tls-verify="$tls" \
      "$list" "docker://$registry/synergy/$target:$version" >/dev/null
    say "pushed $registry/synergy/$target:$version (${architectures[*]})"
  done
}

trap stop_emulating EXIT
for architecture in "${architectures[@]}"; do
  [[ $architecture == "$own" ]] || emulate "$architecture"
  make_base "$architecture"
done
if ((source)); then
  # An unpacked archive has no commit.
  revision=
  if [[ -e $REPOSITORY/.git ]]; then revision=$(git -C "$REPOSITORY" rev-parse --short=12 HEAD); fi
  for architecture in "${architectures[@]}"; do
    build "$architecture" "$REPOSITORY" --build-arg "REVISION=$revision"
  done
else
  context=$work/context
  for architecture in "${architectures[@]}"; do
    rm -rf "$context" && mkdir -p "$context/programs"
    cp "${PROGRAMS[@]/#/${programs[$architecture]}/}" "$context/programs/"
    build "$architecture" "$context" --build-arg PROGRAMS=prebuilt
  done
  rm -r "$context"
fi
if [[ -n $registry ]]; then
  push_lists
  exit
fi
[[ -z $scheduler ]] || build_scheduler
write_archive
say "$output holds, on their base:"
buildah images --json | jq -r '.[] | select(.names != null) | "  \(.names[0] | sub("^localhost/synergy/(?<image>.*)-[^-]*$"; "synergy.test/synergy/\(.image)"))  \(.size)"' >&2
