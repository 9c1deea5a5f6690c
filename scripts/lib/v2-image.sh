# shellcheck shell=bash
# The system of a v2 node, which setup.sh makes once: Debian's cloud kernel, a first RAM disk, and a
# disk with systemd and an SSH server. A second disk has the files of one cluster (v2-node.sh), with
# containerd and the kubelet.

V2_NODE_FILES=$REPOSITORY/tests/cluster/nodes/v2-node
V2_NODE_PACKAGES=(
  systemd systemd-sysv dbus containernetworking-plugins
  iptables iproute2 kmod procps ca-certificates openssh-server bpftool
)
# The modules with which the kernel finds its disk; it loads the rest from there.
V2_NODE_MODULES=(virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk)

# v2_image_folder: prints a name that contains the hash of its recipe, so that a changed recipe
# makes another folder.
v2_image_folder() {
  local recipe
  recipe=$(cat "$REPOSITORY/scripts/lib/v2-image.sh" "$V2_NODE_FILES/init" "$V2_NODE_FILES"/system/* | sha256sum)
  printf '%s\n' "$CACHE/v2-node-${recipe:0:12}"
}

set_up_v2_node() {
  local folder work started=$SECONDS
  if [[ $(uname -m) != x86_64 ]]; then
    warn "v2 nodes are for x86_64 only; left out"
    return
  fi
  folder=$(v2_image_folder)
  if [[ -d $folder ]]; then
    say "v2 node: $folder"
    return
  fi
  if ((EUID != 0)); then
    warn "not root: the system of v2 nodes is left out; sudo scripts/setup.sh makes it"
    return
  fi
  mkdir -p "$CACHE"
  exec 8>"$CACHE/v2-node.lock"
  flock --nonblock 8 || { say "another set-up is making the system of v2 nodes; waiting for it"; flock 8; }
  if [[ ! -d $folder ]]; then
    say "v2 node: making its system in $folder (a minute or two, and 150 MB of downloads)"
    # Only a finished folder gets its name.
    work=$folder.unfinished
    rm -rf "$work" && mkdir "$work"
    make_v2_image "$work" >"$work/log" 2>&1 || die "making the system of v2 nodes failed: $work/log"
    rm -r "$work"/{root,packages,first,log}
    mv "$work" "$folder"
    say "  $((SECONDS - started)) s"
  fi
  exec 8>&-
}

# make_v2_image FOLDER: makes kernel, initrd and root.img in it. Any failure ends it, even if the
# caller tests its status.
make_v2_image() (
  cd "$1" || exit
  get_v2_kernel &&
    debootstrap --variant=minbase --include="$(IFS=, && echo "${V2_NODE_PACKAGES[*]}")" bookworm root &&
    make_v2_root && make_v2_initrd &&
    truncate --size 8G root.img && mkfs.ext4 -q -L root -d root root.img
)

# The package that linux-image-cloud-amd64 depends on, unpacked: installing it would change this
# machine's boot.
get_v2_kernel() {
  local package
  package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
  mkdir packages && (cd packages && apt-get download --option APT::Sandbox::User=root "$package") &&
    dpkg-deb --extract packages/"$package"_*.deb packages && cp packages/boot/vmlinuz-* kernel
}

make_v2_root() {
  local unit
  rm -rf root/var/{cache/apt,lib/apt/lists,log}/* root/usr/share/{doc,man,info,locale,lintian}/*
  mkdir -p root/lib/modules root/seed
  ln -s /seed/{containerd,containerd-shim-runc-v2,ctr,runc} root/usr/local/bin/
  cp -r packages/lib/modules/* root/lib/modules/ && chroot root depmod "$(ls root/lib/modules)" || return
  cp "$V2_NODE_FILES"/system/*.service root/etc/systemd/system/
  install -m 755 "$V2_NODE_FILES/system/set-up-node" root/usr/local/sbin/
  cp "$V2_NODE_FILES/system/sshd.conf" root/etc/ssh/sshd_config.d/synergy-test.conf
  cp "$V2_NODE_FILES/system/journald.conf" root/etc/systemd/journald.conf
  # Files of the machine that made it; every node has its own.
  rm -f root/etc/ssh/ssh_host_* root/etc/hostname && : >root/etc/machine-id && : >root/etc/resolv.conf
  for unit in set-up-node containerd kubelet; do
    ln -s "/etc/systemd/system/$unit.service" "root/etc/systemd/system/multi-user.target.wants/$unit.service"
  done
  # Services that a test's machine does not need.
  for unit in getty.target apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
    fstrim.timer systemd-update-utmp.service systemd-update-utmp-runlevel.service systemd-logind.service \
    modprobe@{configfs,dm_mod,drm,efi_pstore,fuse,loop}.service; do
    ln -s /dev/null "root/etc/systemd/system/$unit"
  done
}

make_v2_initrd() {
  local module
  mkdir -p first/{bin,modules,dev,proc,root}
  cp /bin/busybox first/bin/ && install -m 755 "$V2_NODE_FILES/init" first/init || return
  for module in "${V2_NODE_MODULES[@]}"; do
    find root/lib/modules -name "$module.ko" -exec cp {} "first/modules/" ';'
  done
  (cd first && find . | cpio --quiet --create --format newc | gzip) >initrd
}
