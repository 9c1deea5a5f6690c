#!/usr/bin/env bash
# A cluster that several tests share: fixture.sh up FOLDER INSTANCE, and fixture.sh down FOLDER.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=$(cd "$here/../../scripts" && pwd)
command=$1 folder=$2 instance=${3-}
# shellcheck source=scripts/lib/extender.sh
source "$scripts/lib/extender.sh"

cluster() { "$scripts/cluster.sh" --state "$folder/cluster" "$@"; }

case $command in
  up)
    # What an interrupted run left must not count as the cluster of this one.
    [[ ! -e $folder/cluster/settings ]] || cluster down
    mkdir -p "$folder"
    # Nor may a bridge whose cluster was killed and its folder removed keep this one from its addresses.
    bridge=syn$instance-br1
    [[ -e /sys/class/net/$bridge ]] || ip link add "$bridge" type bridge
    ip address replace "10.$((244 - instance)).1.1/24" dev "$bridge"
    ip link set "$bridge" up
    free_port >"$folder/extender-port"
    cluster up --instance "$instance" --real-nodes 1 --simulated-nodes 32 \
      --extender "http://127.0.0.1:$(<"$folder/extender-port")" --controller "$SYNERGY_BIN"
    # It has its own tests; those of the extender say themselves what their pods ask for.
    cluster stop synergy-controller
    ;;
  down) cluster down ;;
esac
