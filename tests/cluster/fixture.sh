#!/usr/bin/env bash
# The cluster that the tests share: fixture.sh up|down FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=$(cd "$here/../../scripts" && pwd)
command=$1 folder=$2
# shellcheck source=scripts/lib/extender.sh
source "$scripts/lib/extender.sh"

cluster() { "$scripts/cluster.sh" --state "$folder/cluster" "$@"; }

case $command in
  up)
    # What an interrupted run left must not count as the cluster of this one.
    [[ ! -e $folder/cluster/settings ]] || cluster down
    mkdir -p "$folder"
    # Nor may a bridge whose cluster was killed and its folder removed keep this one from its addresses.
    [[ -e /sys/class/net/syn7-br1 ]] || ip link add syn7-br1 type bridge
    ip address replace 10.237.1.1/24 dev syn7-br1
    ip link set syn7-br1 up
    free_port >"$folder/extender-port"
    cluster up --instance 7 --real-nodes 1 --simulated-nodes 32 \
      --extender "http://127.0.0.1:$(<"$folder/extender-port")" --controller "$SYNERGY_BIN"
    # It has its own tests; those of the extender say themselves what their pods ask for.
    cluster stop synergy-controller
    ;;
  down) cluster down ;;
esac
