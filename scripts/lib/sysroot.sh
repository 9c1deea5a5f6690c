# shellcheck shell=bash
# Another architecture's libraries and headers, for a compiler that runs on this machine. Needs packages.sh and architecture.sh.

# sysroot_folder ARCHITECTURE: prints a name that contains the hash of its recipe, so that a changed
# recipe makes another folder.
sysroot_folder() {
  local recipe
  recipe=$(printf '%s\n' "${LIBRARY_PACKAGES[@]}" | cat "$REPOSITORY/scripts/lib/sysroot.sh" - | sha256sum)
  printf '%s\n' "$CACHE/sysroot-$1-${recipe:0:12}"
}

# set_up_sysroot ARCHITECTURE
set_up_sysroot() {
  local folder work started=$SECONDS
  folder=$(sysroot_folder "$1")
  mkdir -p "$CACHE"
  exec 8>"$CACHE/sysroot.lock"
  flock --nonblock 8 || { say "another run is making libraries for $1; waiting for it"; flock 8; }
  if [[ ! -d $folder ]]; then
    say "libraries for $1: unpacking them into $folder (70 MB of downloads)"
    # Only a finished folder gets its name.
    work=$folder.unfinished
    rm -rf "$work" && mkdir "$work"
    make_sysroot "$work" "$1" >"$CACHE/sysroot.log" 2>&1 || die "unpacking the libraries for $1 failed: $CACHE/sysroot.log"
    mv "$work" "$folder"
    say "  $((SECONDS - started)) s"
  fi
  exec 8>&-
}

# make_sysroot FOLDER ARCHITECTURE: unpacks packages without installing them, so that nothing has to
# run, and root is not needed. They are of the release of the images; apt keeps its state and its
# lists there, and leaves this machine's alone.
make_sysroot() (
  local apt=$1/apt package
  mkdir -p "$apt"/{lists,archives}/partial && : >"$apt/status" || return
  echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main' >"$apt/sources.list"
  cat >"$apt/apt.conf" <<CONFIGURATION
APT::Architecture "$2";
#clear APT::Architectures;
APT::Architectures { "$2"; };
APT::Install-Recommends "false";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::State::extended_states "$apt/extended_states";
Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
CONFIGURATION
  export APT_CONFIG=$apt/apt.conf
  apt-get update && apt-get install --yes --download-only libstdc++-12-dev "${LIBRARY_PACKAGES[@]}" || return
  for package in "$apt"/archives/*.deb; do
    dpkg-deb --extract "$package" "$1" || return
  done
  settle_links "$1" "$(machine_of "$2")-linux-gnu" && rm -r "$apt"
)

# settle_links FOLDER TRIPLET: makes absolute links stay within the folder, and adds those of
# update-alternatives.
settle_links() {
  local link library
  while IFS= read -rd '' link; do
    ln --symbolic --force --no-dereference --relative "$1$(readlink "$link")" "$link" || return
  done < <(find "$1" -type l -lname '/*' -print0)
  for library in blas lapack; do
    ln --symbolic "$library/lib$library.so.3" "$1/usr/lib/$2/" || return
  done
}
