# shellcheck shell=bash
# The components of a cluster: starts and stops single ones, for tests of faults.

# Prints the components in the order in which they start.
components() {
  local node
  printf '%s\n' etcd kube-apiserver kube-controller-manager kube-scheduler
  if has_synergy_scheduler; then echo synergy-scheduler; fi
  if has_controller; then echo synergy-controller; fi
  if has_training_operators; then printf '%s\n' jobset trainer; fi
  if has_job_operators; then printf '%s\n' kuberay mpi-operator lws; fi
  if has_kueue; then echo kueue; fi
  if has_simulated_nodes; then echo kwok; fi
  for ((node = 1; node <= REAL_NODES; node++)); do
    printf '%s\n' "node-$node" "containerd-$node" "kubelet-$node"
    if [[ -n $SERVICES ]]; then echo "kube-proxy-$node"; fi
  done
  for ((node = 1; node <= V2_NODES; node++)); do
    echo "v2-$node"
  done
  if has_agents; then
    for ((node = 1; node <= REAL_NODES; node++)); do
      echo "agent-$node"
    done
  fi
}

# Reads the whole list: under pipefail, a grep that ends early could make the other side fail.
is_component() {
  components | grep -x -e "$1" >/dev/null
}

has_synergy_scheduler() { [[ -n $EXTENDER$SCHEDULER_CONFIG ]]; }
has_simulated_nodes() { [[ $SIMULATED_NODES != 0 || -n $SHAPE ]]; }

# change_component start|stop|restart NAME [SIGNAL]: starts, stops or restarts one component.
change_component() {
  local change=$1 name=${2-} signal=${3-TERM}
  load_settings
  take_lock
  is_component "$name" || die "$change what? One of: $(components | xargs)"
  if [[ $change != start ]]; then
    end_component "$name" "$signal"
  elif component_pid "$name" >/dev/null; then
    say "$name runs already"
    return
  fi
  if [[ $change != stop ]]; then
    begin_component "$name"
  fi
}

end_component() {
  case $1 in
    node-*)
      stop_node "${1#node-}"
      # These processes ended with the node, on purpose.
      stop_component "containerd-${1#node-}"
      stop_component "kubelet-${1#node-}"
      if [[ -n $SERVICES ]]; then stop_component "kube-proxy-${1#node-}"; fi
      if has_agents; then stop_component "agent-${1#node-}"; fi
      ;;
    v2-*) stop_component "$1" KILL ;;
    *) stop_component "$1" "$2" ;;
  esac
}

# begin_component NAME: starts the component and, if it has a health check, waits until that
# succeeds.
begin_component() {
  local node=${1##*-}
  case $1 in
    etcd)
      start_etcd
      wait_until 240 "$1" etcd_is_ready
      ;;
    kube-apiserver)
      start_kube_apiserver
      wait_until 240 "$1" api_is_ready
      ;;
    kube-controller-manager) start_kube_controller_manager ;;
    kube-scheduler)
      start_kube_scheduler
      wait_until 240 "$1" scheduler_is_ready "$SCHEDULER_PORT"
      ;;
    synergy-scheduler)
      start_synergy_scheduler
      wait_until 240 "$1" scheduler_is_ready "$SYNERGY_SCHEDULER_PORT"
      ;;
    synergy-controller)
      start_synergy_controller
      wait_until 240 "$1" controller_is_ready
      ;;
    jobset)
      start_jobset
      wait_until 240 "$1" jobset_is_ready
      ;;
    trainer)
      start_trainer
      wait_until 240 "$1" trainer_is_ready
      ;;
    kuberay)
      start_kuberay
      wait_until 240 "$1" kuberay_is_ready
      ;;
    mpi-operator)
      start_mpi_operator
      wait_until 240 "$1" mpi_operator_is_ready
      ;;
    lws)
      start_lws
      wait_until 240 "$1" lws_is_ready
      ;;
    kueue)
      start_kueue
      wait_until 240 "$1" kueue_is_ready
      ;;
    kwok) start_kwok ;;
    node-*)
      start_node "$node"
      start_containerd "$node"
      start_kubelet "$node"
      if [[ -n $SERVICES ]]; then start_kube_proxy "$node"; fi
      if has_agents; then start_agent "$node"; fi
      ;;
    v2-*) start_v2_node "$node" ;;
    containerd-*) start_containerd "$node" ;;
    kubelet-*) start_kubelet "$node" ;;
    kube-proxy-*) start_kube_proxy "$node" ;;
    agent-*) start_agent "$node" ;;
  esac
  sleep 0.2
  fail_if_dead "$1"
}
