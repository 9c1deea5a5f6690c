# shellcheck shell=bash
# The archives that a static program needs and Debian's packages lack: fmt's and cpp-httplib's, made from Debian's sources of
# the packages that are installed. Needs packages.sh, architecture.sh and sysroot.sh.

# archives_folder ARCHITECTURE: prints a name that contains the hash of its recipe.
archives_folder() {
  local recipe
  recipe=$(dpkg-query -W -f '${source:Package} ${source:Version}\n' libfmt-dev libcpp-httplib-dev |
    cat "$REPOSITORY/scripts/lib/static.sh" - | sha256sum)
  printf '%s\n' "$CACHE/archives-$1-${recipe:0:12}"
}

# make_archives ARCHITECTURE
make_archives() {
  local folder work
  folder=$(archives_folder "$1")
  mkdir -p "$CACHE"
  exec 8>"$CACHE/archives.lock"
  flock 8
  if [[ ! -d $folder ]]; then
    command -v dpkg-source patch >/dev/null || die "dpkg-source is missing: run scripts/setup.sh --no-cluster --release"
    say "archives for $1: making them in $folder"
    # Only a finished folder gets its name.
    work=$folder.unfinished
    rm -rf "$work" && mkdir "$work"
    compile_archives "$work" "$1" >"$CACHE/archives.log" 2>&1 || die "making the archives for $1 failed: $CACHE/archives.log"
    mv "$work" "$folder"
  fi
  exec 8>&-
}

# compile_archives FOLDER ARCHITECTURE
compile_archives() (
  local fmt httplib compiler
  cd "$1" || return
  fmt=$(package_source libfmt-dev) && httplib=$(package_source libcpp-httplib-dev) || return
  compiler=(g++ -std=c++20 -O2 -DNDEBUG "-ffile-prefix-map=$1=." -c)
  if [[ $2 != "$(image_architecture)" ]]; then
    compiler[0]=$(machine_of "$2")-linux-gnu-g++
    compiler+=("--sysroot=$(sysroot_folder "$2")")
  fi
  "${compiler[@]}" "-I$fmt/include" "$fmt/src/format.cc" -o format.o && "${compiler[@]}" "-I$fmt/include" "$fmt/src/os.cc" -o os.o &&
    ar rcsD libfmt.a format.o os.o || return
  # As Debian's rules compile it.
  (cd "$httplib" && python3 ./split.py --out split) &&
    "${compiler[@]}" "-I$httplib/split" -DCPPHTTPLIB_USE_POLL -DCPPHTTPLIB_OPENSSL_SUPPORT -DCPPHTTPLIB_ZLIB_SUPPORT \
      -DCPPHTTPLIB_BROTLI_SUPPORT "$httplib/split/httplib.cc" -o httplib.o &&
    ar rcsD libcpp-httplib.a httplib.o || return
  # The header that the programs are compiled with declares what the archive has.
  cmp "$httplib/split/httplib.h" /usr/include/httplib.h || return
  rm -r "$fmt" "$httplib" ./*.o ./apt
)

# package_source PACKAGE: unpacks the source that it was built from, with Debian's changes, and prints its folder. apt checks the
# signature; it keeps its state and its lists in ./apt, and leaves this machine's alone.
package_source() {
  local source version
  read -r source version < <(dpkg-query -W -f '${source:Package} ${source:Version}\n' "$1")
  mkdir -p apt/lists/partial apt/archives/partial "apt/$source"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/%s main\n' \
    'debian bookworm' 'debian bookworm-updates' 'debian-security bookworm-security' >apt/sources.list
  local options=(--option "Dir::Etc::SourceList=$PWD/apt/sources.list" --option Dir::Etc::SourceParts=/dev/null
    --option "Dir::State::Lists=$PWD/apt/lists" --option "Dir::Cache=$PWD/apt" --option APT::Sandbox::User=)
  apt-get "${options[@]}" update >&2 &&
    (cd "apt/$source" && apt-get "${options[@]}" source "$source=$version" >&2) &&
    find "$PWD/apt/$source" -mindepth 1 -maxdepth 1 -type d
}
