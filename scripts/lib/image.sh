# shellcheck shell=bash
# Container images without a registry. Every real node has one that is made from the machine's
# static busybox. The image is also the pods' sandbox, so its command sleeps.

IMAGE=synergy.test/busybox:1

# make_image: makes $STATE/busybox.tar, an archive in the format of `docker save`.
make_image() {
  local folder=$STATE/image applet
  mkdir -p "$folder/files/bin" "$folder/files/tmp"
  cp /bin/busybox "$folder/files/bin/busybox"
  while read -r applet; do
    [[ $applet == busybox ]] || ln -s busybox "$folder/files/bin/$applet"
  done < <(/bin/busybox --list)
  archive_image "$folder" "$IMAGE" '{"Env": ["PATH=/bin"], "Cmd": ["/bin/sleep", "1000000"]}' "$STATE/busybox.tar"
  rm -r "$folder"
}

# archive_image FOLDER NAME CONFIG ARCHIVE: writes an archive in the format of `docker save`, with
# an image whose only layer is FOLDER/files. CONFIG is the image's configuration as JSON: command,
# environment. Leaves temporary files in FOLDER.
archive_image() {
  local folder=$1
  tar --create --directory "$folder/files" --owner 0 --group 0 --file "$folder/layer.tar" .
  jq -n --arg layer "sha256:$(sha256sum "$folder/layer.tar" | cut -d ' ' -f 1)" --arg machine "$(image_architecture)" \
    --argjson config "$3" '
    {architecture: $machine, os: "linux", config: $config, rootfs: {type: "layers", diff_ids: [$layer]}}' \
    >"$folder/config.json"
  jq -n --arg image "$2" '[{Config: "config.json", RepoTags: [$image], Layers: ["layer.tar"]}]' >"$folder/manifest.json"
  tar --create --directory "$folder" --file "$4" manifest.json config.json layer.tar
}

image_architecture() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
  esac
}
