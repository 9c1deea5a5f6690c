# shellcheck shell=bash
# Changes of the machine outside the real nodes' namespaces, and how to undo them: kernel settings,
# bridges, control groups.

# The kubelet sets all but the last of these; the bridge plugin sets the last.
KERNEL_SETTINGS=(
  vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops
  kernel.keys.root_maxkeys kernel.keys.root_maxbytes net.ipv4.ip_forward
)

# The settings before the first of the running clusters started, and the running instances. They are
# outside the clusters' states, because the last cluster to end need not be the first that started.
KERNEL_SETTINGS_STATE=/run/synergy-test-kernel-settings

# alone_with_kernel_settings FUNCTION: runs the function under a lock, because several clusters may
# start and end at the same time.
alone_with_kernel_settings() {
  mkdir -p "$KERNEL_SETTINGS_STATE/instances"
  (
    flock 9
    "$1"
  ) 9>"$KERNEL_SETTINGS_STATE/lock"
}

keep_kernel_settings() {
  if [[ -z $(ls "$KERNEL_SETTINGS_STATE/instances") ]]; then
    sysctl "${KERNEL_SETTINGS[@]}" >"$KERNEL_SETTINGS_STATE/settings"
  fi
  touch "$KERNEL_SETTINGS_STATE/instances/$INSTANCE"
}

put_back_kernel_settings() {
  [[ -e $KERNEL_SETTINGS_STATE/instances/$INSTANCE ]] || return 0
  rm "$KERNEL_SETTINGS_STATE/instances/$INSTANCE"
  [[ -n $(ls "$KERNEL_SETTINGS_STATE/instances") ]] || sysctl --quiet --load "$KERNEL_SETTINGS_STATE/settings"
}

save_kernel_settings() { alone_with_kernel_settings keep_kernel_settings; }

# restore_kernel_settings: restores the settings unless another cluster's nodes still need them.
restore_kernel_settings() { alone_with_kernel_settings put_back_kernel_settings; }

# Bridge 0 joins the nodes of a cluster with Services, bridges 1 to 4 belong to real nodes, and 5
# and 6 to v2 nodes.
BRIDGES=({0..6})
bridge_of() { printf 'syn%d-br%d\n' "$INSTANCE" "$1"; }
# Each instance has its own /16, and each real node a /24 of it; simulated pods get addresses from
# the upper half.
subnet_of() { printf '10.%d.%d\n' $((244 - INSTANCE)) "$1"; }

make_bridge() {
  local name
  name=$(bridge_of "$1")
  ip link add "$name" type bridge
  ip address add "$(subnet_of "$1").1/24" dev "$name"
  ip link set "$name" up
}

# With Services each real node has its own network namespace, like a machine: kube-proxy's rules are
# in there, so several clusters do not conflict. Bridge 0, on the machine, joins the nodes and the
# API server.
uplink_address() { printf '%s.%d\n' "$(subnet_of 0)" $(($1 + 1)); }
uplink_of() { printf 'syn%d-up%d\n' "$INSTANCE" "$1"; }

# connect_node NODE PID: makes a virtual cable from bridge 0 to the network namespace of PID. Also
# makes the node's bridge in that namespace, and the route to its pods.
connect_node() {
  local cable
  cable=$(uplink_of "$1")
  ip link add "$cable" type veth peer name eth0 netns "$2"
  ip link set "$cable" master "$(bridge_of 0)" up
  nsenter --target "$2" --net ip link set lo up
  nsenter --target "$2" --net ip address add "$(uplink_address "$1")/24" dev eth0
  nsenter --target "$2" --net ip link set eth0 up
  nsenter --target "$2" --net ip route add default via "$(uplink_address 0)"
  nsenter --target "$2" --net sysctl --quiet --write net.ipv4.ip_forward=1
  nsenter --target "$2" --net ip link add "$(bridge_of "$1")" type bridge
  nsenter --target "$2" --net ip address add "$(subnet_of "$1").1/24" dev "$(bridge_of "$1")"
  nsenter --target "$2" --net ip link set "$(bridge_of "$1")" up
  ip route replace "$(subnet_of "$1").0/24" via "$(uplink_address "$1")"
  sysctl --quiet --write net.ipv4.ip_forward=1
}

remove_bridge() {
  local name
  name=$(bridge_of "$1")
  if [[ -e /sys/class/net/$name ]]; then
    ip link delete "$name"
  fi
}

# clear_orphans: removes the remains of this instance's clusters that were killed and lost their
# state (for example, in a container that ended). A running cluster occupies at least one of the
# ports, so this comes after the check of the ports.
clear_orphans() {
  local bridge
  ((REAL_NODES + V2_NODES)) || return 0
  for bridge in /sys/class/net/syn"$INSTANCE"-br?; do
    [[ -e $bridge ]] || continue
    say "clearing away ${bridge##*/}, which a killed cluster left"
    remove_bridge "${bridge##*-br}"
  done
  remove_cgroups
  restore_kernel_settings
}

# Fails if another program uses the ports of this instance.
fail_if_ports_taken() {
  local port
  for port in "$API_PORT" "$ETCD_PORT" "$ETCD_PEER_PORT" "$CONTROLLER_MANAGER_PORT" "$SCHEDULER_PORT"; do
    [[ -z $(ss -Hltn "sport = :$port") ]] || die "port $port is in use: choose another --instance than $INSTANCE"
  done
}

# Fails if the addresses of this instance are in use.
fail_if_addresses_taken() {
  local node
  ((REAL_NODES + V2_NODES)) || return 0
  for node in "${BRIDGES[@]}"; do
    [[ -z $(ip -4 route show root "$(subnet_of "$node").0/24") ]] ||
      die "$(subnet_of "$node").0/24 is in use on this machine: choose another --instance than $INSTANCE"
  done
}

cgroup_of() { printf '/synergy-test-%d/node-%d\n' "$INSTANCE" "$1"; }

has_cgroup_v2() { [[ -e /sys/fs/cgroup/cgroup.controllers ]]; }

cgroup_hierarchies() {
  if has_cgroup_v2; then
    echo /sys/fs/cgroup
  else
    printf '%s\n' /sys/fs/cgroup/*
  fi
}

# make_cgroup NODE: makes the root of the node's pods in every hierarchy; --real-node-cpu limits it.
# Pods have priority over other processes of the machine, because a real node shares its CPU with no
# control plane. If a limit leaves CPU for other processes, pods go before all of them; otherwise
# pods have the weight of four processes.
make_cgroup() {
  local path hierarchy level shares=4096
  path=$(cgroup_of "$1")
  for hierarchy in $(cgroup_hierarchies); do
    for level in "${path%/*}" "$path"; do
      mkdir -p "$hierarchy$level"
      inherit_resources "$hierarchy$level"
    done
  done
  ((!REAL_NODE_CPU)) || shares=262144
  if has_cgroup_v2; then
    ((!REAL_NODE_CPU)) || echo "${REAL_NODE_CPU}00 100000" >"/sys/fs/cgroup$path/cpu.max"
    echo $((shares * 100 / 1024 < 10000 ? shares * 100 / 1024 : 10000)) >"/sys/fs/cgroup${path%/*}/cpu.weight"
  else
    ((!REAL_NODE_CPU)) || echo "${REAL_NODE_CPU}00" >"/sys/fs/cgroup/cpu$path/cpu.cfs_quota_us"
    echo "$shares" >"/sys/fs/cgroup/cpu${path%/*}/cpu.shares"
  fi
}

# A new group has no CPUs (v1) or no controllers (v2) at first.
inherit_resources() {
  local file
  if has_cgroup_v2; then
    sed 's/[^ ][^ ]*/+&/g' "${1%/*}/cgroup.controllers" >"${1%/*}/cgroup.subtree_control"
  elif [[ -e $1/cpuset.cpus ]]; then
    for file in cpuset.cpus cpuset.mems; do
      cat "${1%/*}/$file" >"$1/$file"
    done
  fi
}

# The kernel releases a group some time after the group's last process has ended.
remove_cgroups() {
  local hierarchy path
  for _ in {1..100}; do
    for hierarchy in $(cgroup_hierarchies); do
      path=$hierarchy/synergy-test-$INSTANCE
      [[ ! -d $path ]] || find "$path" -depth -type d -exec rmdir {} \; 2>/dev/null || true
    done
    [[ -z $(compgen -G "/sys/fs/cgroup/*/synergy-test-$INSTANCE") && ! -d /sys/fs/cgroup/synergy-test-$INSTANCE ]] &&
      return
    sleep 0.1
  done
  warn "control groups named synergy-test-$INSTANCE could not be removed from /sys/fs/cgroup"
}
