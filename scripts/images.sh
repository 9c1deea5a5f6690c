#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/images.sh [--programs FOLDER | --source] [--output ARCHIVE]
       scripts/images.sh [--programs FOLDER]... [--arch LIST] --push REGISTRY [--plain-http]
       scripts/images.sh --source [--arch LIST] --push REGISTRY [--plain-http]
       scripts/images.sh [--programs FOLDER]... [--arch LIST] --layouts FOLDER

Builds the images of the Dockerfile as root, without a daemon (buildah). It writes them in one of three forms.

1. An archive for this machine's architecture, which `scripts/cluster.sh load-image` and `ctr images import` can read:

  synergy.test/synergy/{extender,controller,deviceplugin,nodeagent,cli}:VERSION
  registry.k8s.io/kube-scheduler:VERSION   the kube-scheduler that scripts/setup.sh has built, if any, under the name of the
                                           official image

2. Manifest lists over the architectures in your registry: REGISTRY/synergy/{extender,...}:VERSION. Run `sudo buildah login
REGISTRY` first if the registry needs a login.

3. OCI layouts FOLDER/{extender,...}, each an index over the architectures.

With SOURCE_DATE_EPOCH, the images have that date, and the same programs and packages make the same bytes.

The base, debian:bookworm-slim, cannot be pulled everywhere. So debootstrap makes it once, in
${XDG_CACHE_HOME:-~/.cache}/synergy/images.

  --programs FOLDER   take the programs from FOLDER; they show their architecture. Once for each architecture. Default:
                      build/release/bin for this machine's, and build/ARCHITECTURE/bin (scripts/cross.sh) for the other one
  --source            build the programs inside the image, as `docker build` does. This takes about 12 minutes on two cores,
                      and hours for an architecture that this machine does not have, because its compiler is emulated
  --output ARCHIVE    default: build/images.tar
  --push REGISTRY     push the images instead
  --layouts FOLDER    write the images as layouts instead
  --arch LIST         amd64, arm64, or both separated by a comma; default: this machine's. Debian's packages of the other one
                      are installed in emulation; if the kernel has no interpreter for its programs, this script installs
                      QEMU's while it runs (scripts/setup.sh --cross)
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
# No registry can have a name in .test, so these names cannot be pulled.
ARCHIVE_REGISTRY=synergy.test

given=() source=0 output=$REPOSITORY/build/images.tar
own=$(image_architecture) other=$(other_architecture) architectures=() registry='' layouts='' tls=true
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --programs) need_value "$1" "${2-}" && given+=("$2") && shift ;;
    --source) source=1 ;;
    --output) need_value "$1" "${2-}" && output=$2 && shift ;;
    --push) need_value "$1" "${2-}" && registry=$2 && shift ;;
    --arch) need_value "$1" "${2-}" && IFS=, read -ra architectures <<<"$2" && shift ;;
    --layouts) need_value "$1" "${2-}" && layouts=$2 && shift ;;
    --plain-http) tls=false ;;
    *) die "images.sh has no option $1 (--help lists them)" ;;
  esac
  shift
done
((${#architectures[@]})) || architectures=("$own")

for architecture in "${architectures[@]}"; do
  [[ $architecture == amd64 || $architecture == arm64 ]] || die "--arch takes amd64 and arm64, not '$architecture'"
  [[ $architecture == "$own" || -n $registry$layouts ]] ||
    die "an archive is for this machine's architecture ($own): --arch $architecture goes with --push or --layouts"
done

default_programs() { # ARCHITECTURE
  if [[ $1 == "$own" ]]; then echo "$REPOSITORY/build/release/bin"; else echo "$REPOSITORY/build/$1/bin"; fi
}

cure="a build makes those for $own in build/release/bin, scripts/cross.sh those for $other in build/$other/bin"

# find_programs: finds the folder with the programs for each architecture.
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
# The program that scripts/setup.sh has built. Without it, nodes pull the official image.
scheduler=''
if [[ -z $registry$layouts ]] && { [[ -n ${SYNERGY_KUBE_BIN-} ]] || command -v go >/dev/null; }; then
  scheduler=$(kube_folder)/kube-scheduler
  [[ -x $scheduler ]] || scheduler=''
fi

# Keep an existing archive with the same contents.
recipe=
if [[ -z $registry$layouts ]] && ((!source)); then
  recipe=$(cat "$REPOSITORY"/{Dockerfile,CMakeLists.txt,scripts/images.sh,scripts/image-files.sh} "${PROGRAMS[@]/#/${programs[$own]}/}" ${scheduler:+"$scheduler"} | sha256sum)
  if [[ -e $output && -e $output.recipe && $(<"$output.recipe") == "$recipe" ]]; then
    say "$output is made of these programs already"
    exit
  fi
fi

work=$CACHE/images
mkdir -p "$work"
exec 7<"$work"
flock --nonblock 7 || { say "another images.sh is running; waiting for it"; flock 7; }
# A separate store leaves the machine's own containers unchanged.
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/store"\nrunroot = "%s/run"\n' "$work" "$work" >"$work/storage.conf"
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot

# These options give an image its date. The base always has the same date, because it is used for
# several releases.
date_options=()
[[ -z ${SOURCE_DATE_EPOCH-} ]] ||
  date_options=(--timestamp "$SOURCE_DATE_EPOCH" --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH")

base_of() { printf 'localhost/debian:bookworm-with-licences-%s\n' "$1"; }

# update_base SYSTEM: installs the fixes since the last point release, as Debian's own image does.
# They come from debootstrap's mirror. Without fixes, a base is good enough for a test, but not for
# a release.
update_base() {
  local sources=$1/etc/apt/sources.list mirror
  mirror=$(awk '$1 == "deb" { print $2; exit }' "$sources")
  cp "$sources" "$work/sources.list"
  printf 'deb %s main\n' "$mirror bookworm" "$mirror bookworm-updates" "$mirror-security bookworm-security" >"$sources"
  if chroot "$1" sh -c 'apt-get -qq -o APT::Update::Error-Mode=any update && DEBIAN_FRONTEND=noninteractive apt-get -qq upgrade --yes' >>"$work/debootstrap.log" 2>&1; then return; fi
  [[ -z $layouts ]] || die "the base's update failed: $work/debootstrap.log"
  warn "the base has no security fixes: $mirror-security cannot be read ($work/debootstrap.log)"
  cp "$work/sources.list" "$sources"
}

# make_base ARCHITECTURE: makes the base image, which is like Debian's slim one: the essential
# packages and apt, without documentation.
make_base() {
  local base container system=$work/system
  base=$(base_of "$1")
  if buildah inspect --type image "$base" &>/dev/null; then return; fi
  say "making $base"
  rm -rf "$system"
  debootstrap --arch="$1" --variant=minbase bookworm "$system" >"$work/debootstrap.log" || die "debootstrap failed: $work/debootstrap.log"
  update_base "$system"
  rm -rf "$system"/var/{cache/apt,cache/ldconfig,lib/apt/lists,log}/* "$system"/usr/share/{man,info,locale,lintian}/*
  # Keep the licences.
  find "$system/usr/share/doc" -type f ! -name copyright -delete
  # Files that name the machine, and dates of passwords, would differ each time.
  rm -f "$system"/etc/{hostname,resolv.conf,machine-id} "$system"/etc/*-
  sed -i -E 's/^(([^:]*:){2})[0-9]+:/\10:/' "$system/etc/shadow"
  container=$(buildah from scratch)
  tar --create --sort name --mtime @0 --numeric-owner --directory "$system" --file "$work/base.tar" .
  buildah add --quiet "$container" "$work/base.tar" / >/dev/null
  buildah config --arch "$1" --cmd bash "$container"
  buildah commit --quiet --rm --timestamp 0 "$container" "$base" >/dev/null
  rm -r "$system" "$work/base.tar"
}

image_of() { printf 'localhost/synergy/%s:%s-%s\n' "$1" "$version" "$2"; } # TARGET ARCHITECTURE

# build ARCHITECTURE CONTEXT [OPTIONS]: builds all images for one architecture.
build() {
  local architecture=$1 context=$2 target
  shift 2
  # The libraries are installed only once, because drop_old_layers keeps their image.
  for target in libraries "${TARGETS[@]}"; do
    # Only Docker's format has HEALTHCHECK.
    buildah bud --quiet --layers --pull-never --format docker "${date_options[@]}" --arch "$architecture" --build-arg "BASE=$(base_of "$architecture")" \
      --target "$target" --tag "$(image_of "$target" "$architecture")" --label "org.opencontainers.image.version=$version" \
      --file "$REPOSITORY/Dockerfile" "$@" "$context" >/dev/null
  done
}

# drop_old_layers: removes layers that no named image of the store needs, such as those of earlier
# programs. A killed build leaves a container that would keep its layers; the lock ensures that no
# build is running.
drop_old_layers() {
  buildah rm --all >/dev/null
  # --force, because otherwise rm skips a container whose creation was interrupted.
  buildah rmi --prune --force >/dev/null
}

build_scheduler() {
  local context=$work/context-scheduler
  rm -rf "$context" && mkdir "$context"
  cp "$scheduler" "$context"
  printf 'FROM %s\nCOPY kube-scheduler /usr/local/bin/\nUSER 65532:65532\nENTRYPOINT ["kube-scheduler"]\n' "$(base_of "$own")" >"$context/Dockerfile"
  buildah bud --quiet --layers --pull-never --tag "registry.k8s.io/kube-scheduler:$(kubernetes_version)" "$context" >/dev/null
  rm -r "$context"
}

# write_archive: writes all images into one OCI archive, which contains shared layers once, under
# the names by which containerd finds them.
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

# settle_layout LAYOUT: replaces the layout's index with the list that it names, so that its digest
# is the image's. Removes the history's comments, which name images of this machine's store.
settle_layout() (
  cd "$1"
  blob() { printf 'blobs/sha256/%s\n' "${1#sha256:}"; }
  # replace DIGEST FILTER [ARGUMENT...]: replaces a blob with the filter's output; prints a
  # descriptor of the new one.
  replace() {
    jq --compact-output --join-output "${@:3}" "$2" "$(blob "$1")" >new
    rm "$(blob "$1")"
    local digest
    digest=$(sha256sum new | cut -d ' ' -f 1)
    jq -n --arg digest "sha256:$digest" --argjson size "$(stat --format %s new)" '{digest: $digest, size: $size}'
    mv new "$(blob "$digest")"
  }
  mv "$(blob "$(jq -r '.manifests[0].digest' index.json)")" index.json
  jq -r '.manifests[].digest' index.json | while read -r manifest; do
    config=$(replace "$(jq -r '.config.digest' "$(blob "$manifest")")" 'del(.history[].comment)')
    # shellcheck disable=SC2016 # jq's variable
    named=$(replace "$manifest" '.config += $config' --argjson config "$config")
    jq --compact-output --join-output --arg old "$manifest" --argjson named "$named" \
      '(.manifests[] | select(.digest == $old)) += $named' index.json >new && mv new index.json
  done
)

# write_lists: makes each image a list over the architectures. Pushes the list under its name in the
# registry, or writes its layout.
write_lists() {
  local target list architecture
  for target in "${TARGETS[@]}"; do
    list=localhost/synergy/$target:$version
    buildah manifest rm "$list" &>/dev/null || true # of a run that was interrupted
    buildah manifest create "$list" >/dev/null
    for architecture in "${architectures[@]}"; do
      buildah manifest add "$list" "containers-storage:$(image_of "$target" "$architecture")" >/dev/null
    done
    if [[ -n $layouts ]]; then
      rm -rf "${layouts:?}/$target"
      buildah manifest push --quiet --all --rm --format oci "$list" "oci:$layouts/$target:$version" >/dev/null
      settle_layout "$layouts/$target"
      say "wrote $layouts/$target (${architectures[*]})"
      continue
    fi
    # The list has the same format as its images.
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
  # A source tree without git has no commit.
  revision=
  if [[ -e $REPOSITORY/.git ]]; then revision=$(git -C "$REPOSITORY" rev-parse --short=12 HEAD); fi
  for architecture in "${architectures[@]}"; do
    build "$architecture" "$REPOSITORY" --build-arg "REVISION=$revision"
  done
else
  context=$work/context
  for architecture in "${architectures[@]}"; do
    rm -rf "$context" && mkdir -p "$context/programs" "$context/scripts"
    cp "$REPOSITORY/scripts/image-files.sh" "$context/scripts/"
    cp "${PROGRAMS[@]/#/${programs[$architecture]}/}" "$context/programs/"
    build "$architecture" "$context" --build-arg PROGRAMS=prebuilt
  done
  rm -r "$context"
fi
if [[ -n $registry$layouts ]]; then
  [[ -z $layouts ]] || mkdir -p "$layouts"
  write_lists
  drop_old_layers
  exit
fi
[[ -z $scheduler ]] || build_scheduler
drop_old_layers
write_archive
say "$output holds, on their base:"
buildah images --json | jq -r '.[] | select(.names != null and (.names[0] | contains("/libraries:") | not)) | "  \(.names[0] | sub("^localhost/synergy/(?<image>.*)-[^-]*$"; "synergy.test/synergy/\(.image)"))  \(.size)"' >&2
