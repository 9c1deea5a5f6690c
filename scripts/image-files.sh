#!/bin/sh
# image-files.sh PROGRAM FOLDER: creates the files of PROGRAM's image in FOLDER: the program, the
# libraries that it needs, dpkg's records of their packages, and the packages' licences. A stage of
# the Dockerfile runs this script; all of the files are installed there.
set -eu
program=$1
root=$2

# add FILE: copies the file, and the links that lead to it.
add() {
  real=$(readlink -f "$1")
  mkdir -p "$root$(dirname "$real")"
  cp -p "$real" "$root$real"
  named=$(readlink -f "$(dirname "$1")")/$(basename "$1")
  [ "$named" = "$real" ] || ln -sf "$real" "$root$named"
}

# packages_of FILE...: prints the packages of the files. For some packages, dpkg has the file names
# from before the merge of / and /usr.
packages_of() {
  for file in "$@"; do
    file=$(readlink -f "$file")
    { dpkg-query --search "$file" || dpkg-query --search "${file#/usr}"; } 2>/dev/null | sed 's/: .*//'
  done
}

mkdir -p "$root/etc" "$root/usr/lib" "$root/usr/lib64" "$root/usr/local/bin" "$root/var/lib/dpkg"
mkdir -m 1777 "$root/tmp"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"
cp -p "/usr/local/bin/$program" "$root/usr/local/bin/"
libraries=$(ldd "/usr/local/bin/$program" | sed -n 's/.*\(=> \|^\t\)\(\/[^ ]*\) (.*/\2/p')
for library in $libraries; do add "$library"; done

cp -p /usr/lib/os-release "$root/usr/lib/"
ln -s ../usr/lib/os-release "$root/etc/os-release"
echo 'root:x:0:0:root:/:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'synergy:x:65532:65532::/:/usr/sbin/nologin' >>"$root/etc/passwd"
printf 'root:x:0:\nsynergy:x:65532:\n' >"$root/etc/group"

# shellcheck disable=SC2086 # a word each
for package in $(packages_of $libraries /usr/lib/os-release | sort -u); do
  dpkg-query --status "$package" >>"$root/var/lib/dpkg/status"
  echo >>"$root/var/lib/dpkg/status"
  name=${package%:*}
  mkdir -p "$root/usr/share/doc/$name"
  cp -pL "/usr/share/doc/$name/copyright" "$root/usr/share/doc/$name/"
done
