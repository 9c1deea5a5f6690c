# shellcheck shell=bash
# shellcheck disable=SC2034 # the variables are read by the scripts that source this
# A release: the options that all of its steps share, its names, and the libraries that the steps
# need.

# shellcheck source=scripts/lib/output.sh
source "${BASH_SOURCE[0]%/*}/output.sh"
# shellcheck source=scripts/lib/programs.sh
source "${BASH_SOURCE[0]%/*}/programs.sh"
# shellcheck source=scripts/lib/image.sh
source "${BASH_SOURCE[0]%/*}/image.sh"

# Images, and the program in each.
RELEASE_IMAGES=(extender controller deviceplugin nodeagent cli)

project_version() { sed -n 's/^project(synergy VERSION \([0-9.]*\).*/\1/p' "$REPOSITORY/CMakeLists.txt"; }

# release_usage STEP TEXT: prints the help of a step.
release_usage() {
  printf 'usage: scripts/release/%s.sh [--dry-run] vX.Y.Z [OPTION]...\n\n%s\n\nThe options are those of scripts/release.sh.\n' "$1" "$2"
}

# release_options USAGE ARGUMENT...: stores the options of scripts/release.sh in variables.
release_options() {
  local usage=$1
  shift
  dry_run=0 tag='' out='' registry='' source_url='' architectures=(amd64 arm64) programs=()
  while (($#)); do
    case $1 in
      -h | --help) "$usage" && exit 0 ;;
      --dry-run) dry_run=1 ;;
      --out) need_value "$1" "${2-}" && out=$2 && shift ;;
      --registry) need_value "$1" "${2-}" && registry=$2 && shift ;;
      --source) need_value "$1" "${2-}" && source_url=$2 && shift ;;
      --arch) need_value "$1" "${2-}" && IFS=, read -ra architectures <<<"$2" && shift ;;
      --programs) need_value "$1" "${2-}" && programs+=("$(realpath -- "$2")") && shift ;;
      -*) die "a release has no option $1 (scripts/release.sh --help lists them)" ;;
      *) [[ -z $tag ]] || die "one tag makes a release, not $tag and $1"
        tag=$1 ;;
    esac
    shift
  done
  version=$(project_version)
  [[ -n $tag ]] || die "which tag? CMakeLists.txt has the version $version: v$version"
  [[ $tag == "v$version" ]] || die "$tag is not v$version, the version in CMakeLists.txt: change it there, or tag v$version"
  if ((dry_run)); then
    registry=${registry:-127.0.0.1:5000} source_url=${source_url:-https://source.invalid/synergy}
  fi
  [[ -n $registry ]] || die "--registry is missing: where the images and the chart go"
  [[ $registry != *[[:upper:]]* ]] || die "--registry $registry: names of images are lower case: ${registry,,}"
  [[ $source_url == https://* ]] || die "--source is missing: the https:// address of the repository, where the release's files will be"
  for architecture in "${architectures[@]}"; do
    [[ $architecture == amd64 || $architecture == arm64 ]] || die "--arch takes amd64 and arm64, not '$architecture'"
  done
  out=$(realpath --canonicalize-missing -- "${out:-$REPOSITORY/out/$tag}")
  assets=$out/assets layouts=$out/images
  mkdir -p "$assets"
  # All files get the date of the commit.
  if [[ -z ${SOURCE_DATE_EPOCH-} ]]; then
    SOURCE_DATE_EPOCH=$(git -C "$REPOSITORY" log -1 --format=%ct) || die "SOURCE_DATE_EPOCH is missing: this is not a clone of the repository"
  fi
  export SOURCE_DATE_EPOCH
}

release_date() { date --utc --date "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ; }

release_revision() { git -C "$REPOSITORY" rev-parse HEAD 2>/dev/null || echo unknown; }

# release_tool NAME: prints the path of helm, crane, syft or cosign.
release_tool() {
  local program
  program=$("$1_folder")/$1
  [[ -x $program ]] || die "$1 is missing: run scripts/setup.sh --no-cluster --release"
  printf '%s\n' "$program"
}

# programs_of ARCHITECTURE: prints the folder with the programs for the architecture.
programs_of() { printf '%s\n' "$out/programs/$1"; }

# archive FOLDER ARCHIVE NAME...: writes files of a folder as tar.gz. The archive does not depend on
# the machine or the time.
archive() {
  tar --create --sort name --format ustar --mtime "@$SOURCE_DATE_EPOCH" --owner 0 --group 0 --numeric-owner --mode go=u-w,a+r \
    --directory "$1" "${@:3}" | gzip --no-name --best >"$2"
}

# digest_of_layout IMAGE: prints the digest of the image's list over the architectures.
digest_of_layout() {
  [[ -f $layouts/$1/index.json ]] || die "$layouts/$1 is not an image: run scripts/release/images.sh"
  printf 'sha256:%s\n' "$(sha256sum "$layouts/$1/index.json" | cut -d ' ' -f 1)"
}

# image_name IMAGE: prints the image's name in the registry, without a tag.
image_name() { printf '%s/synergy/%s\n' "$registry" "$1"; }

# quietly COMMAND...: runs the command, and prints its output only if it fails.
quietly() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 || { cat "$log" >&2 && rm "$log" && die "failed: $*"; }
  rm "$log"
}
