# shellcheck shell=bash
# v2 nodes: QEMU machines with control groups v2, systemd, containerd and a kubelet, even if this
# machine itself has none of these. The component v2-N is the whole QEMU machine.
#
# $STATE/v2-N contains its disks. disk.qcow2 has its changes to the system that setup.sh made, and
# seed.img the files of this cluster. data.img is an empty file system that QEMU limits to 40 MB/s
# of reads. Through QEMU's user network, the node can reach only the API server. There the API
# server has the address of its Service, so that programs in pods find it, too. The node's own
# address also belongs to this machine, where QEMU listens for it.

V2_API=10.96.0.1
V2_ADDRESS=10.96.0.15
V2_GATEWAY=10.96.0.2
V2_SSH_PORT=2222

v2_home() { printf '%s/v2-%d\n' "$STATE" "$1"; }
# Prints the number of the node's bridge and subnet, which follows those of the other real nodes.
v2_number() { printf '%d\n' $((4 + $1)); }
v2_node_address() { printf '%s.1\n' "$(subnet_of "$(v2_number "$1")")"; }

check_v2_machine() {
  local name
  ((V2_NODES)) || return 0
  for name in qemu-system-x86_64 qemu-img mkfs.ext4 ssh ssh-keygen; do
    command -v "$name" >/dev/null || die "$name is missing: run scripts/setup.sh"
  done
  [[ -d $(v2_image_folder) ]] || die "the system of v2 nodes is not made yet: run scripts/setup.sh"
}

make_v2_node() {
  local home system
  home=$(v2_home "$1") system=$(v2_image_folder)
  mkdir -p "$home"
  make_certificate "v2-$1" "/O=system:nodes/CN=system:node:v2-$1" "DNS:v2-$1,IP:$(v2_node_address "$1")"
  make_kubeconfig "v2-$1"
  claim_v2_address "$1"
  make_v2_seed "$1"
  qemu-img create -q -f qcow2 -b "$system/root.img" -F raw "$home/disk.qcow2"
  truncate --size 256M "$home/data.img"
  mkfs.ext4 -q "$home/data.img"
}

# Adds a route but no address: a connection to a local address comes from that same address, and the
# node would take it for its own. The route disappears with the bridge.
claim_v2_address() {
  local bridge
  bridge=$(bridge_of "$(v2_number "$1")")
  ip link add "$bridge" type bridge
  ip link set "$bridge" up
  ip route add local "$(v2_node_address "$1")" dev "$bridge" src 127.0.0.1
}

# make_v2_seed NODE: makes the disk seed.img, with containerd, the kubelet and everything that
# belongs to this node alone.
make_v2_seed() {
  local home seed key
  home=$(v2_home "$1") seed=$home/seed
  mkdir -p "$seed"/{cni,pki,ssh}
  cp "${CONTAINERD_PROGRAMS[@]/#/$CONTAINERD_BIN/}" "$KUBE_BIN/kubelet" "$STATE/busybox.tar" "$seed"
  cp "$STATE/pki/ca.crt" "$seed/pki"
  cp "$STATE/pki/v2-$1.crt" "$seed/pki/kubelet.crt"
  cp "$STATE/pki/v2-$1.key" "$seed/pki/kubelet.key"
  sed -e "s|$API|https://$V2_API:443|" -e "s|$STATE/pki/v2-$1|/seed/pki/kubelet|" -e "s|$STATE/pki|/seed/pki|" \
    "$STATE/v2-$1.kubeconfig" >"$seed/kubelet.kubeconfig"
  cp "$V2_NODE_FILES/kubelet.yaml" "$seed"
  sed "s|@IMAGE@|$IMAGE|" "$V2_NODE_FILES/containerd.toml" >"$seed/containerd.toml"
  sed -e "s|@BRIDGE@|cni0|" -e "s|@SUBNET@|$(subnet_of "$(v2_number "$1")")|" \
    "$REPOSITORY/tests/cluster/nodes/real-node/bridge.conflist" >"$seed/cni/10-bridge.conflist"
  printf '%s\n' "NODE=v2-$1" "SUBNET=$(subnet_of "$(v2_number "$1")")" "ADDRESS=$V2_ADDRESS" "GATEWAY=$V2_GATEWAY" >"$seed/node.env"
  for key in host_key client_key; do
    ssh-keygen -q -t ed25519 -N '' -C "$key" -f "$seed/ssh/$key"
  done
  mv "$seed/ssh/client_key" "$home/client_key"
  printf 'v2-%d %s\n' "$1" "$(<"$seed/ssh/host_key.pub")" >"$home/known_hosts"
  truncate --size 320M "$home/seed.img"
  mkfs.ext4 -q -d "$seed" "$home/seed.img"
  rm -r "$seed"
}

# Uses KVM if it works, which only a trial shows: on some machines KVM ends QEMU, on others the
# guest hangs.
v2_acceleration() {
  local system
  system=$(v2_image_folder)
  if [[ ! -e $STATE/v2-acceleration ]]; then
    if [[ -w /dev/kvm ]] && timeout 10 qemu-system-x86_64 -M q35 -accel kvm -cpu max -m 256 -nodefaults -nographic -no-reboot \
      -serial stdio -kernel "$system/kernel" -initrd "$system/initrd" -append "console=ttyS0 quiet panic=-1 probe" \
      </dev/null 2>&1 | grep "the machine works" >/dev/null; then
      echo kvm >"$STATE/v2-acceleration"
    else
      echo tcg,thread=multi >"$STATE/v2-acceleration"
    fi
  fi
  cat "$STATE/v2-acceleration"
}

# After a power cut, what the machine has not written must be lost, but this machine's disk must not
# delay writes. If QEMU emulates the CPU, `rep movsb` copies a byte at a time; without `erms` the
# guest copies in larger pieces, ten times as fast.
start_v2_node() {
  local home system address acceleration
  home=$(v2_home "$1") system=$(v2_image_folder) address=$(v2_node_address "$1")
  acceleration=$(v2_acceleration)
  spawn "v2-$1" qemu-system-x86_64 -name "synergy-test-$INSTANCE-v2-$1" -M q35 -accel "$acceleration" -cpu max,-erms \
    -smp "$V2_NODE_CPUS" -m "$V2_NODE_MEMORY" -nodefaults -nographic -no-reboot -serial stdio \
    -kernel "$system/kernel" -initrd "$system/initrd" -append "console=ttyS0 quiet panic=1 mitigations=off net.ifnames=0 systemd.default_timeout_start_sec=600" \
    -drive "file=$home/disk.qcow2,if=virtio,format=qcow2,cache=unsafe" \
    -drive "file=$home/seed.img,if=virtio,format=raw,readonly=on" \
    -drive "file=$home/data.img,if=virtio,format=raw,cache=unsafe,throttling.bps-read=40000000" \
    -netdev "$(v2_network "$address")" -device virtio-net-pci,netdev=net,romfile=
}

# v2_network ADDRESS: prints a network that can reach only the API server, with ports for that and
# for in_v2_node.
v2_network() {
  local option
  printf 'user,id=net,restrict=on,net=%s/24,host=%s,dns=%s' "${V2_API%.*}.0" "$V2_GATEWAY" "${V2_GATEWAY%.*}.3"
  # Starts one process for each connection: QEMU would connect to a plain address only once.
  printf ',guestfwd=tcp:%s:443-cmd:/bin/busybox nc %s %d' "$V2_API" "$API_ADDRESS" "$API_PORT"
  for option in "10250-$V2_ADDRESS:10250" "$V2_SSH_PORT-$V2_ADDRESS:22"; do
    printf ',hostfwd=tcp:%s:%s' "$1" "$option"
  done
}

# in_v2_node NODE COMMAND...: runs the command as root on the node, with this program's input and
# output. The first connection stays open for later calls, because a new one takes an emulated CPU a
# second or two; it ends with the machine.
in_v2_node() {
  local home
  home=$(v2_home "$1")
  component_pid "v2-$1" >/dev/null || die "v2-$1 does not run: start it first"
  ssh -F none -p "$V2_SSH_PORT" -i "$home/client_key" -o BatchMode=yes -o ConnectTimeout=60 -o LogLevel=ERROR \
    -o UserKnownHostsFile="$home/known_hosts" -o HostKeyAlias="v2-$1" -o ControlPath="$(v2_connection "$1")" -o ControlMaster=auto \
    -o ControlPersist=yes "root@$(v2_node_address "$1")" -- "${@:2}" 9>&-
}

# The socket is in this machine's temporary folder, because a socket's path must be short.
v2_connection() { printf '/run/synergy-test-%d-v2-%d.ssh\n' "$INSTANCE" "$1"; }

load_image_in_v2_node() {
  wait_until 480 "containerd of v2-$1" in_v2_node "$1" ctr version
  in_v2_node "$1" ctr --namespace k8s.io images import - <"$2" >>"$STATE/logs/v2-$1.log" 2>&1 ||
    die "v2-$1 could not load $2: see $STATE/logs/v2-$1.log"
}
