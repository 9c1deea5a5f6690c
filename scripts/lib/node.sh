# shellcheck shell=bash
# Real nodes. Each is like a small machine: a mount namespace and a process id namespace, in which
# containerd and a kubelet run with the usual paths. The namespaces' first process is the component
# node-N. When it is killed, the kernel ends all processes of the node and undoes all of its mounts,
# so nothing is left behind.
#
# $STATE/node-N contains the node's /run, /var/lib and /var/log.

NODE_FOLDERS=(/run /var/lib /var/log)

node_home() { printf '%s/node-%d\n' "$STATE" "$1"; }
node_folder() { printf '%s/%s\n' "$(node_home "$1")" "${2##*/}"; }

make_node() {
  local home
  home=$(node_home "$1")
  mkdir -p "$home/cni"
  make_certificate "node-$1" "/O=system:nodes/CN=system:node:node-$1" "DNS:node-$1,IP:$(subnet_of "$1").1"
  make_kubeconfig "node-$1"
  if [[ -z $SERVICES ]]; then make_bridge "$1"; fi
  make_cgroup "$1"
  fill_template containerd.toml "$1" >"$home/containerd.toml"
  fill_template bridge.conflist "$1" >"$home/cni/10-bridge.conflist"
  fill_template kubelet.yaml "$1" >"$home/kubelet.yaml"
}

# fill_template FILE NODE: prints the template with the node's values.
fill_template() {
  local reserved=0
  ((REAL_NODE_CPU == 0)) || reserved=$(($(getconf _NPROCESSORS_ONLN) * 1000 - REAL_NODE_CPU))
  sed -e "s|@HOME@|$(node_home "$2")|g" -e "s|@PKI@|$STATE/pki|g" -e "s|@NODE@|node-$2|g" \
    -e "s|@BRIDGE@|$(bridge_of "$2")|g" -e "s|@SUBNET@|$(subnet_of "$2")|g" -e "s|@CGROUP@|$(cgroup_of "$2")|g" \
    -e "s|@HEALTH_PORT@|$((KUBELET_HEALTH_PORT + $2))|g" -e "s|@RESERVED_CPU@|${reserved}m|g" -e "s|@IMAGE@|$IMAGE|g" \
    "$REPOSITORY/tests/cluster/nodes/real-node/$1"
}

start_node() {
  local folder init net=() mounts='mount --no-mtab --make-rshared /'
  for folder in "${NODE_FOLDERS[@]}"; do
    mkdir -p "$(node_folder "$1" "$folder")"
    mounts+=$(printf ' && mount --no-mtab --bind %q %q' "$(node_folder "$1" "$folder")" "$folder")
  done
  # A machine's /run does not survive a crash.
  find "$(node_folder "$1" /run)" -mindepth 1 -delete
  # Without --no-mtab the first mount leaves a folder in the machine's own /run. The first process
  # is Bash, which reaps the orphans that it inherits, and has no other work.
  if [[ -n $SERVICES ]]; then net=(--net); fi
  spawn "node-$1" unshare "${net[@]}" --mount --pid --fork --kill-child --mount-proc \
    bash -c "$mounts && touch /run/booted && while :; do sleep infinity & wait; done"
  wait_until 240 "the namespaces of node-$1" test -e "$(node_folder "$1" /run)/booted"
  if [[ -n $SERVICES ]]; then
    init=$(node_init "$1")
    connect_node "$1" "$init"
  fi
}

stop_node() {
  local init
  init=$(node_init "$1") || init=
  stop_component "node-$1" KILL
  while [[ -n $init ]] && process_start "$init" >/dev/null; do
    sleep 0.05
  done
}

# node_init NODE: prints the id of the first process in the node's namespaces.
node_init() {
  local pid
  pid=$(component_pid "node-$1") && child_of "$pid"
}

child_of() {
  local children
  { children=$(<"/proc/$1/task/$1/children"); } 2>/dev/null
  [[ -n $children ]] && printf '%s\n' "${children%% *}"
}

# spawn_in_node NAME NODE COMMAND...: like spawn, in a node's namespaces. It records the program,
# not the nsenter that waits for the program.
spawn_in_node() {
  local name=$1 init waiting namespaces
  init=$(node_init "$2") || die "node-$2 does not run: start it first"
  mapfile -t namespaces < <(namespaces_of_node)
  shift 2
  (
    detach "$name"
    exec setsid nsenter --target "$init" "${namespaces[@]}" "$@"
  ) &
  waiting=$!
  disown
  until child_of "$waiting" >/dev/null; do
    process_start "$waiting" >/dev/null || die "$name did not start: $STATE/logs/$name.log"
    sleep 0.01
  done
  remember "$name" "$(child_of "$waiting")"
}

# Prints the namespaces of a node in the form of nsenter's options.
namespaces_of_node() {
  printf '%s\n' --mount --pid
  [[ -z $SERVICES ]] || echo --net
}

in_node() {
  local init namespaces
  init=$(node_init "$1") || return
  mapfile -t namespaces < <(namespaces_of_node)
  shift
  nsenter --target "$init" "${namespaces[@]}" "$@"
}

# containerd looks for its shim, and the shim looks for runc, in PATH.
start_containerd() {
  spawn_in_node "containerd-$1" "$1" env PATH="$CONTAINERD_BIN:$PATH" "$CONTAINERD_BIN/containerd" --config "$(node_home "$1")/containerd.toml"
}

wait_for_containerd() { wait_until 240 "containerd-$1" in_node "$1" "$CONTAINERD_BIN/ctr" version; }

# A kubelet ends if it finds no containerd.
start_kubelet() {
  wait_for_containerd "$1"
  spawn_in_node "kubelet-$1" "$1" "$KUBE_BIN/kubelet" --config "$(node_home "$1")/kubelet.yaml" \
    --kubeconfig "$STATE/node-$1.kubeconfig" --hostname-override "node-$1" --node-ip "$(subnet_of "$1").1" \
    --node-labels synergy.test/node=real,synergy.io/devices-safe=true
}

# Runs kube-proxy, which implements Services by iptables rules in the node's network namespace. All
# of their traffic is masqueraded: otherwise the answer of a pod on the same bridge would bypass the
# rules. The machine determines the size of the kernel's connection tables.
start_kube_proxy() {
  spawn_in_node "kube-proxy-$1" "$1" "$KUBE_BIN/kube-proxy" --kubeconfig "$STATE/kube-proxy.kubeconfig" \
    --hostname-override "node-$1" --proxy-mode iptables --cluster-cidr "$(subnet_of 0 | cut -d . -f 1,2).0.0/16" --masquerade-all \
    --conntrack-max-per-core 0 --conntrack-tcp-timeout-established 0s --conntrack-tcp-timeout-close-wait 0s
}

# load_image NODE FILE: loads an archive in the format of `docker save`.
load_image() {
  wait_for_containerd "$1"
  in_node "$1" "$CONTAINERD_BIN/ctr" --namespace k8s.io images import "$2" >>"$STATE/logs/containerd-$1.log" 2>&1 ||
    die "node-$1 could not load $2: see $STATE/logs/containerd-$1.log"
}

load_images() {
  local file node
  (($#)) || die "load-image needs image archives"
  for file in "$@"; do
    need_file load-image "$file"
    for ((node = 1; node <= REAL_NODES; node++)); do
      load_image "$node" "$(realpath "$file")"
    done
    for ((node = 1; node <= V2_NODES; node++)); do
      load_image_in_v2_node "$node" "$file"
    done
  done
}
