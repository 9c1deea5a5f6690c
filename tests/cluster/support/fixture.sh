#!/usr/bin/env bash
# fixture.sh up FOLDER INSTANCE [queues], fixture.sh down FOLDER: starts and stops a cluster that
# several tests share. `queues`: the cluster for the tests of Kueue's queues.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=$(cd "$here/../../../scripts" && pwd)
command=$1 folder=$2 instance=${3-} kind=${4-} more=()
# shellcheck source=scripts/lib/extender.sh
source "$scripts/lib/extender.sh"

cluster() { "$scripts/cluster.sh" --state "$folder/cluster" "$@"; }

# up OPTIONS...: starts the cluster with these additional options of cluster.sh.
up() {
  cluster up --instance "$instance" --real-nodes 1 --scheduler-config "$folder/scheduler-config.yaml" \
    --extender "http://127.0.0.1:$(<"$folder/extender-port")" --controller "$SYNERGY_BIN" "$@"
}

# The tuner runs more often and the choice of GPU types waits less than by default, so that tests
# need not wait. Kubeflow Trainer is absent, as if it had been removed.
set_up_queues() {
  "$here/trainer/image.sh" "$SYNERGY_TRAINER" "$folder/trainer.tar"
  cluster load-image "$folder/trainer.tar"
  sed --in-place --expression 's/tuner: {round: 10s/tuner: {round: 3s/' \
    --expression 's/trainJobProgress: false/trainJobProgress: true, typePatience: 20s/' "$folder/cluster/synergy-controller.yaml"
  grep --quiet 'round: 3s' "$folder/cluster/synergy-controller.yaml"
  grep --quiet 'typePatience: 20s' "$folder/cluster/synergy-controller.yaml"
  cluster restart synergy-controller
}

case $command in
  up)
    # Remove what an interrupted run has left.
    [[ ! -e $folder/cluster/settings ]] || cluster down
    mkdir -p "$folder"
    # A killed cluster whose folder was removed may have left a bridge. It must not keep this
    # cluster from its addresses.
    bridge=syn$instance-br1
    [[ -e /sys/class/net/$bridge ]] || ip link add "$bridge" type bridge
    ip address replace "10.$((244 - instance)).1.1/24" dev "$bridge"
    ip link set "$bridge" up
    free_port >"$folder/extender-port"
    # The shipped configuration, except that a refused pod is tried again after at most a second,
    # not ten: the tests wait for many retries. Clusters of single tests use it as shipped.
    { cat "$scripts/../manifests/scheduler-config.yaml" && echo "podMaxBackoffSeconds: 1"; } >"$folder/scheduler-config.yaml"
    if [[ $kind == queues ]]; then
      up --shape "$here/shapes/queues.yaml" --agents --kueue
      set_up_queues
    else
      # Only the tests of gangs use Kubernetes' own PodGroups; the others are not affected.
      [[ -n ${SYNERGY_KUBERNETES-} ]] || more=(--pod-groups api)
      up --simulated-nodes 16 "${more[@]}"
      # The controller has its own tests. In the extender's tests, each pod states its requests.
      cluster stop synergy-controller
    fi
    ;;
  down) cluster down ;;
esac
