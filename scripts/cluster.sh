#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/cluster.sh COMMAND [--state DIR] ...

A real Kubernetes cluster on this machine for tests (docs/internals/test-cluster.md). scripts/setup.sh installs what it needs.

  up [OPTIONS]               start it and wait until its nodes are ready
  down [--keep-logs]         end it and remove everything that it made
  status [--output json]     what runs; fails when a component died
  kubectl ARGUMENTS...       kubectl as the administrator
  logs COMPONENT [OPTIONS]   a component's log; with options, those of tail (logs etcd -f)
  exec v2-N COMMAND...       a command on a v2 node, as root
  env                        lines for eval "$(scripts/cluster.sh env)": KUBECONFIG and others
  load-image FILE...         give every real node and v2 node the image in a `docker save` archive
  start COMPONENT            start a component that is stopped or dead
  stop COMPONENT [SIGNAL]    end one (TERM unless said otherwise) and leave it out; node-N and v2-N are a whole machine's power
  restart COMPONENT [SIGNAL] both

Options of up:
  --real-nodes N             nodes with a kubelet and containers, 0 to 4 (1)
  --real-node-cpu MILLI      CPU of each of them (0: the machine's; that is the default for one node, and four fifths of
                             the machine shared out for more)
  --v2-nodes N               machines in QEMU with a kubelet on control groups v2 and systemd, 0 to 2 (0)
  --v2-node-memory MIB       memory of each of them (3072)
  --v2-node-cpus N           CPUs of each of them (2)
  --simulated-nodes N        nodes that kwok plays, up to 5000 (0)
  --shape FILE               their shapes: a YAML list (tests/cluster/support/shapes/v100.yaml)
  --extender URL             run a second kube-scheduler, synergy-scheduler, that calls the extender at URL
  --controller FOLDER        run FOLDER/synergy-controller (build/release/bin) with its kinds and webhooks
  --agents                   run FOLDER/synergy-node-agent on every real node, which tells that controller of progress
  --shipped-settings         the controller's scope and headroom as shipped, instead of every training pod and none
  --kueue                    run Kueue, for Jobs, JobSets, TrainJobs and single Pods, with the kinds, rights and webhooks of its
                             chart
  --training-operators       run JobSet and Kubeflow Trainer, with those of their charts and the runtimes torch-distributed and
                             deepspeed-distributed
  --job-operators            run KubeRay, MPI operator and LeaderWorkerSet, with the kinds, rights and webhooks of their modules
                             (scripts/setup.sh --operators builds them)
  --scheduler-config FILE    that scheduler's configuration instead of manifests/scheduler-config.yaml
  --services                 kube-proxy on the real nodes, so that Services work in pods and for webhooks; each node gets a network
                             namespace of its own
  --pod-groups api|scheduler Kubernetes' own PodGroups and Workloads, also of Jobs: in the API server and the controllers alone, or
                             in kube-scheduler, too
  --audit NAMESPACE          what the namespace's service accounts ask the API server, in the log `audit.log`
  --instance N               another set of ports, addresses and names, so that clusters can run side by side, 0 to 15 (0)

  --state DIR                where everything is kept (SYNERGY_CLUSTER_STATE, or ~/.local/state/synergy/cluster); any
                             command takes it, directly before or after the command's name
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
