#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/cluster.sh COMMAND [--state DIR] ...

Runs a real Kubernetes cluster for tests on this machine (docs/internals/test-cluster.md). scripts/setup.sh installs what it
needs.

  up [OPTIONS]               start the cluster and wait until its nodes are ready
  down [--keep-logs]         end it and remove everything that it made
  status [--output json]     show what runs; fail if a component died
  kubectl ARGUMENTS...       run kubectl as the administrator
  logs COMPONENT [OPTIONS]   print a component's log; OPTIONS are those of tail (logs etcd -f)
  exec v2-N COMMAND...       run a command on a v2 node, as root
  env                        print lines for eval "$(scripts/cluster.sh env)": KUBECONFIG and others
  load-image FILE...         load the images of `docker save` archives into every real node and v2 node
  start COMPONENT            start a component that is stopped or dead
  stop COMPONENT [SIGNAL]    end a component with the signal (TERM) and leave it stopped; node-N and v2-N stand for the power
                             of a whole machine
  restart COMPONENT [SIGNAL] stop, then start

Options of up:
  --real-nodes N             nodes with a kubelet and containers, 0 to 4 (1)
  --real-node-cpu MILLI      CPU of each real node in thousandths of a core; 0: the whole machine's. Default: 0 for one node;
                             for more, they share four fifths of the machine
  --v2-nodes N               machines in QEMU with a kubelet on control groups v2 and systemd, 0 to 2 (0)
  --v2-node-memory MIB       memory of each v2 node (3072)
  --v2-node-cpus N           CPUs of each v2 node (2)
  --simulated-nodes N        nodes that kwok simulates, up to 5000 (0)
  --shape FILE               shapes of the simulated nodes, a YAML list (tests/cluster/support/shapes/v100.yaml)
  --extender URL             run a second kube-scheduler, synergy-scheduler, that calls the extender at URL
  --controller FOLDER        run FOLDER/synergy-controller (build/release/bin) with its kinds and webhooks
  --agents                   run FOLDER/synergy-node-agent on every real node; the agents report progress to the controller
  --shipped-settings         use the controller's shipped scope and headroom; otherwise it reviews every training pod, and
                             there is no headroom
  --kueue                    run Kueue, for Jobs, JobSets, TrainJobs and single Pods, with the kinds, rights and webhooks of
                             its chart
  --training-operators       run JobSet and Kubeflow Trainer, with those of their charts and the runtimes torch-distributed
                             and deepspeed-distributed
  --job-operators            run KubeRay, MPI operator and LeaderWorkerSet, with the kinds, rights and webhooks of their
                             modules (scripts/setup.sh --operators builds them)
  --scheduler-config FILE    configuration of synergy-scheduler, instead of manifests/scheduler-config.yaml
  --services                 run kube-proxy on the real nodes, so that Services work in pods and for webhooks; each node gets
                             its own network namespace
  --pod-groups api|scheduler enable Kubernetes' own PodGroups and Workloads, also those of Jobs: only in the API server and
                             the controllers, or in kube-scheduler, too
  --audit NAMESPACE          log the calls of the namespace's service accounts to the API server in the log `audit.log`
  --instance N               another set of ports, addresses and names, so that clusters can run side by side, 0 to 15 (0)

  --state DIR                folder with everything of the cluster (SYNERGY_CLUSTER_STATE, or
                             ~/.local/state/synergy/cluster); any command takes this option, directly before or after the
                             command's name
TEXT
}

# A cluster on this machine needs no proxy, but curl and the Kubernetes programs would use one.
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in output disk programs settings process pki control-plane controller agent kueue training-operators job-operators machine node v2-image v2-node image simulated components lifecycle status; do
  # shellcheck source=/dev/null
  source "$here/lib/$part.sh"
done

state_option() {
  need_value --state "${1-}"
  STATE=$1
}

STATE=${SYNERGY_CLUSTER_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/synergy/cluster}
[[ ${1-} != --state ]] || { state_option "${2-}" && shift 2; }
command=${1:---help}
shift $(($# > 0))
[[ ${1-} != --state ]] || { state_option "${2-}" && shift 2; }

show_log() {
  local name=${1-}
  is_component "$name" || die "which log? One of: $(components | xargs)"
  shift
  if (($#)); then
    tail "$@" "$STATE/logs/$name.log"
  else
    cat "$STATE/logs/$name.log"
  fi
}

run_in_v2_node() {
  local name=${1-}
  { is_component "$name" && [[ $name == v2-* ]]; } || die "exec where? v2-1 to v2-$V2_NODES"
  (($# > 1)) || die "exec needs a command"
  in_v2_node "${name#v2-}" "${@:2}"
}

case $command in
  -h | --help | help) usage ;;
  up) cluster_up "$@" ;;
  down) cluster_down "$@" ;;
  status)
    load_settings
    case "$*" in
      "" | "--output table") show_status table ;;
      "--output json" | "--output=json") show_status json ;;
      *) die "status takes --output table or --output json" ;;
    esac
    ;;
  kubectl) load_settings && run_kubectl "$@" ;;
  logs) load_settings && show_log "$@" ;;
  exec) load_settings && run_in_v2_node "$@" ;;
  env) load_settings && print_environment ;;
  load-image) load_settings && load_images "$@" ;;
  start | stop | restart) change_component "$command" "$@" ;;
  *) die "unknown command $command (--help lists them)" ;;
esac
