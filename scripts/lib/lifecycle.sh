# shellcheck shell=bash
# Starts and ends a cluster.

cluster_up() {
  local wanted started=$EPOCHREALTIME
  parse_settings "$@"
  check_machine
  take_lock
  wanted=$(settings_text)
  if [[ -e $STATE/settings ]]; then
    is_worth_keeping || clear_away "what an earlier cluster left"
  fi
  if [[ -e $STATE/settings ]]; then
    [[ $wanted == "$(<"$STATE/settings")" ]] || die "a cluster with other options is up: scripts/cluster.sh down ends it"
    # shellcheck disable=SC2046 # one word for each component
    fail_if_dead $(components) || die "a component of the cluster is dead: restart it, or run scripts/cluster.sh down"
    say "the cluster is up already"
    return
  fi
  [[ -z $(find "$STATE" -mindepth 1 -maxdepth 1 ! -name logs) ]] ||
    die "$STATE holds files that are not a cluster's: choose another folder with --state"
  rm -rf "$STATE/logs"
  fail_if_ports_taken
  clear_orphans
  fail_if_addresses_taken
  mkdir "$STATE/logs" "$STATE/pids"
  mkdir -m 700 "$STATE/pki"
  trap clear_away_failure EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  printf '%s\n' "$wanted" >"$STATE/settings"
  wait_for_disk
  bring_up
  touch "$STATE/ready"
  trap - EXIT INT TERM
  say "up in $(seconds_since "$started") s: $API, $REAL_NODES real, $V2_NODES v2 and $(count_simulated_nodes) simulated nodes"
}

seconds_since() {
  awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", to - from }'
}

# wait_for_disk: waits while the disk of $STATE has no room for a cluster: builds and other tests
# may fill it for a while. A component that cannot write would fail later, with an error that does
# not name the cause.
wait_for_disk() {
  local needed=2048 deadline=$((SECONDS + 600)) free short=
  while free=$(free_mib "$STATE") && ((free < needed)); do
    [[ -n $short ]] || say "the disk of $STATE has $free MiB left, and a cluster needs $needed: waiting for up to 10 minutes"
    short=1
    ((SECONDS < deadline)) ||
      die "the disk of $STATE has $free MiB left, and a cluster needs $needed: make room, or choose another disk with --state"
    sleep 2
  done
}

bring_up() {
  local node nodes
  write_simulated_nodes
  nodes=$((REAL_NODES + V2_NODES + $(count_simulated_nodes)))
  write_scheduler_configs
  make_pki
  if [[ -n $SERVICES ]]; then make_bridge 0; fi
  start_etcd
  wait_until 240 etcd etcd_is_ready
  # The API server takes longest to start; meanwhile the nodes can be made.
  start_kube_apiserver
  if ((REAL_NODES)); then save_kernel_settings; fi
  if ((REAL_NODES + V2_NODES)); then make_image; fi
  for ((node = 1; node <= V2_NODES; node++)); do
    make_v2_node "$node"
    start_v2_node "$node"
  done
  for ((node = 1; node <= REAL_NODES; node++)); do
    make_node "$node"
    start_node "$node"
    start_containerd "$node"
  done
  wait_until 240 kube-apiserver api_is_ready
  start_kube_controller_manager
  for ((node = 1; node <= REAL_NODES; node++)); do
    start_kubelet "$node"
    if [[ -n $SERVICES ]]; then start_kube_proxy "$node"; fi
  done
  start_kube_scheduler
  if has_synergy_scheduler; then start_synergy_scheduler; fi
  if has_simulated_nodes; then start_kwok; fi
  # Programs in pods come with their own rights.
  if [[ -z $SERVICES ]]; then allow_extender; fi
  if has_controller; then
    install_controller
    start_synergy_controller
  fi
  if has_training_operators; then
    install_training_operators
    start_jobset
    start_trainer
  fi
  if has_job_operators; then
    install_job_operators
    start_kuberay
    start_mpi_operator
    start_lws
  fi
  if has_kueue; then
    install_kueue
    start_kueue
  fi
  for ((node = 1; node <= REAL_NODES; node++)); do
    load_image "$node" "$STATE/busybox.tar"
  done
  if has_agents; then
    install_agents
    for ((node = 1; node <= REAL_NODES; node++)); do
      start_agent "$node"
    done
  fi
  if has_simulated_nodes; then create_simulated_nodes; fi
  wait_until 240 "the default service account" default_account_is_there
  wait_until 240 kube-scheduler scheduler_is_ready "$SCHEDULER_PORT"
  if has_synergy_scheduler; then
    wait_until 240 synergy-scheduler scheduler_is_ready "$SYNERGY_SCHEDULER_PORT"
  fi
  if has_controller; then wait_until 240 synergy-controller controller_is_ready; fi
  if has_kueue; then wait_until 240 kueue kueue_is_ready; fi
  if has_training_operators; then
    wait_until 240 jobset jobset_is_ready
    wait_until 240 trainer trainer_is_ready
    make_runtimes
  fi
  if has_job_operators; then
    wait_until 240 kuberay kuberay_is_ready
    wait_until 240 mpi-operator mpi_operator_is_ready
    wait_until 240 lws lws_is_ready
  fi
  wait_until $((60 + nodes / 10 + 900 * V2_NODES)) "all nodes to be ready" nodes_are_ready "$nodes"
}

# Gives the extender the shipped role. Here it runs outside the cluster, as a user of its own.
allow_extender() {
  {
    apply_manifests --filename "$REPOSITORY/manifests/extender-rbac.yaml" &&
      run_kubectl create clusterrolebinding synergy-extender-user --clusterrole synergy-extender --user synergy-extender
  } >>"$STATE/logs/extender-rbac.log" 2>&1 || die "manifests/extender-rbac.yaml: $(<"$STATE/logs/extender-rbac.log")"
}

nodes_are_ready() {
  [[ $(nodes_json | jq '[.[] | select(.ready and .schedulable)] | length') -ge $1 ]]
}

check_machine() {
  local missing name
  STATE=$(realpath --canonicalize-missing "$STATE")
  [[ $STATE =~ ^[A-Za-z0-9/._@%+=:,-]+$ ]] || die "the state folder's path has odd characters: $STATE"
  for name in etcd curl jq openssl ss flock setsid; do
    command -v "$name" >/dev/null || die "$name is missing: run scripts/setup.sh"
  done
  /usr/bin/python3 -c 'import yaml' 2>/dev/null || die "python3-yaml is missing: run scripts/setup.sh"
  missing=$(
    missing_programs "$KUBE_BIN" "${KUBE_PROGRAMS[@]}"
    missing_programs "$KWOK_BIN" kwok
    if ((REAL_NODES + V2_NODES)); then missing_programs "$CONTAINERD_BIN" "${CONTAINERD_PROGRAMS[@]}"; fi
    if has_kueue; then missing_programs "$KUEUE" kueue; fi
    if has_training_operators; then
      missing_programs "$(jobset_folder)" jobset
      missing_programs "$(trainer_folder)" trainer-controller-manager
    fi
    if has_job_operators; then
      missing_programs "$(kuberay_folder)" ray-operator
      missing_programs "$(mpi_operator_folder)" mpi-operator
      missing_programs "$(lws_folder)" cmd
    fi
    if has_kueue || has_training_operators || has_job_operators; then missing_programs "$(helm_folder)" helm; fi
  )
  [[ -z $missing ]] || die "not built yet: ${missing//$'\n'/ }: run scripts/setup.sh${JOB_OPERATORS:+ --operators}"
  ((REAL_NODES + V2_NODES)) || return 0
  ((EUID == 0)) || die "real nodes need root (namespaces, bridges, control groups); --real-nodes 0 does without"
  check_v2_machine
  for name in ip nsenter unshare /bin/busybox /usr/lib/cni/bridge; do
    command -v "$name" >/dev/null || die "$name is missing: run scripts/setup.sh"
  done
  for name in "${NODE_FOLDERS[@]}"; do
    [[ $STATE/ != "$name"/* ]] || die "the state folder cannot be in $name, which each node has of its own"
  done
}

# Only one command at a time may change a cluster. The lock is on the folder itself, so no lock file
# is left.
take_lock() {
  mkdir -p "$STATE"
  exec 9<"$STATE"
  flock --nonblock 9 || { say "another command is changing the cluster; waiting for it"; flock 9; }
}

# is_worth_keeping: succeeds if an `up` has finished, and neither a restart of the machine nor a
# user has ended everything since.
is_worth_keeping() (
  [[ -e $STATE/ready ]] || return 1
  load_settings
  for name in $(components); do
    [[ $(component_state "$name") != running ]] || return 0
  done
  return 1
)

cluster_down() {
  local keep_logs=0
  while (($#)); do
    case $1 in
      --keep-logs) keep_logs=1 ;;
      --state) state_option "${2-}" && shift ;;
      *) die "down has no option $1 (--help lists them)" ;;
    esac
    shift
  done
  STATE=$(realpath --canonicalize-missing "$STATE")
  if [[ -d $STATE ]]; then take_lock; fi
  if [[ ! -e $STATE/settings ]]; then
    say "the cluster is down"
    return
  fi
  tear_down
  ((keep_logs)) || rm -rf "$STATE/logs"
  say "the cluster is down"
}

# Runs in a subshell, so that the settings of the old cluster do not mix with those of the new one.
clear_away() {
  say "clearing away $1"
  (tear_down)
}

clear_away_failure() {
  trap - EXIT
  trap '' INT TERM
  clear_away "what was started; the logs stay in $STATE/logs"
  exit 1
}

# tear_down: undoes everything that `up` has done, however far it came. Removes the settings last,
# so that it can be repeated until then.
tear_down() {
  local name node
  load_settings
  rm -f "$STATE/ready"
  for ((node = 1; node <= REAL_NODES; node++)); do
    stop_node "$node"
  done
  for name in $(components); do
    stop_component "$name" KILL
  done
  for node in "${BRIDGES[@]}"; do
    remove_bridge "$node"
  done
  remove_cgroups
  if ((REAL_NODES + V2_NODES)); then restore_kernel_settings; fi
  find "$STATE" -mindepth 1 -maxdepth 1 ! -name logs ! -name settings -exec rm -rf {} +
  rm "$STATE/settings"
}
