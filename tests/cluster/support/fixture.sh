#!/usr/bin/env bash
# A cluster that several tests share: fixture.sh up FOLDER INSTANCE [queues], and fixture.sh down
# FOLDER. With `queues` it is that of the tests of Kueue queues.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=$(cd "$here/../../../scripts" && pwd)
command=$1 folder=$2 instance=${3-} kind=${4-} more=()
# shellcheck source=scripts/lib/extender.sh
source "$scripts/lib/extender.sh"

cluster() { "$scripts/cluster.sh" --state "$folder/cluster" "$@"; }

# up OPTIONS...: brings it up with these further options of cluster.sh.
up() {
  cluster up --instance "$instance" --real-nodes 1 --scheduler-config "$folder/scheduler-config.yaml" \
    --extender "http://127.0.0.1:$(<"$folder/extender-port")" --controller "$SYNERGY_BIN" "$@"
}

# Nodes are divided, and checks are answered without a leader, as fast as a test needs it. Trainer
# is absent, as after its removal.
set_up_queues() {
  "$here/trainer/image.sh" "$SYNERGY_TRAINER" "$folder/trainer.tar"
  cluster load-image "$folder/trainer.tar"
  sed --in-place --expression 's/tuner: {round: 10s/tuner: {round: 3s/' \
    --expression 's/trainJobProgress: false/trainJobProgress: true, typePatience: 5s/' "$folder/cluster/synergy-controller.yaml"
  grep --quiet 'round: 3s' "$folder/cluster/synergy-controller.yaml"
  grep --quiet 'typePatience: 5s' "$folder/cluster/synergy-controller.yaml"
  cluster restart synergy-controller
}

case $command in
  up)
    # The leftovers of an interrupted run must not count as the cluster of this one.
    [[ ! -e $folder/cluster/settings ]] || cluster down
    mkdir -p "$folder"
    # Nor may a bridge keep this cluster from its addresses, if a cluster was killed and its folder
    # removed.
    bridge=syn$instance-br1
    [[ -e /sys/class/net/$bridge ]] || ip link add "$bridge" type bridge
    ip address replace "10.$((244 - instance)).1.1/24" dev "$bridge"
    ip link set "$bridge" up
    free_port >"$folder/extender-port"
    # As shipped, but a refused pod is tried again after a second: the tests wait for many retries,
    # which by default are up to ten seconds apart. Clusters of single tests are as shipped.
    { cat "$scripts/../manifests/scheduler-config.yaml" && echo "podMaxBackoffSeconds: 1"; } >"$folder/scheduler-config.yaml"
    if [[ $kind == queues ]]; then
      up --shape "$here/shapes/queues.yaml" --agents --kueue
      set_up_queues
    else
      # Kubernetes' own PodGroups are for the tests of gangs, and do not affect the others.
      [[ -n ${SYNERGY_KUBERNETES-} ]] || more=(--pod-groups api)
      up --simulated-nodes 16 "${more[@]}"
      # The controller has tests of its own; in those of the extender each pod states its requests.
      cluster stop synergy-controller
    fi
    ;;
  down) cluster down ;;
esac
