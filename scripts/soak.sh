#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/soak.sh [--seconds N] [--pods N] [--nodes N] [--seed N] [--output json] [--skip-setup] [--programs FOLDER] [--state DIR]

Creates and deletes training pods on simulated nodes, kills the API server, the extender and two controllers again and again,
and makes kubelets refuse resizes. Checks every second, by asking the API server, that the invariants hold: no node is
over-allocated, no pod is below its floor, no pod is lost or moved, every change is recorded, and no GPUs are idle if room
can be made. Then runs the hundred jobs of a recorded trace under the same checks. The exit status is 1 if an invariant did
not hold.

  --seconds N        how long the kills last (600)
  --pods N           pods at a time (500)
  --nodes N          simulated nodes with 8 GPUs, 24 CPUs and 500 GB each (64)
  --seed N           seed of the random choices (1)
  --output json      print the report as JSON
  --skip-setup       do not install or build anything
  --programs FOLDER  folder with synergy-extender and synergy-controller (build/release/bin)
  --state DIR        folder for logs (~/.local/state/synergy/soak)
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=scripts/lib/output.sh
source "$here/lib/output.sh"
# shellcheck source=scripts/lib/extender.sh
source "$here/lib/extender.sh"

setup=1 nodes=64 programs=$root/build/release/bin
state=${XDG_STATE_HOME:-$HOME/.local/state}/synergy/soak
arguments=()
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --seconds | --pods | --seed | --output) need_value "$1" "${2-}" && arguments+=("$1" "$2") && shift ;;
    --nodes) need_value "$1" "${2-}" && nodes=$2 && shift ;;
    --programs) need_value "$1" "${2-}" && programs=$2 && shift ;;
    --state) need_value "$1" "${2-}" && state=$2 && shift ;;
    --skip-setup) setup=0 ;;
    *) die "soak.sh has no option $1 (--help lists them)" ;;
  esac
  shift
done

cluster() { "$here/cluster.sh" --state "$state/cluster" "$@"; }
finish() {
  local status=$?
  trap - EXIT INT TERM
  [[ ! -e $state/cluster/settings ]] || cluster down --keep-logs >/dev/null
  exit "$status"
}

if ((setup)); then
  "$here/setup.sh"
  (cd "$root" && cmake --preset release >/dev/null && cmake --build --preset release --target synergy-extender synergy-controller)
fi
mkdir -p "$state"
trap finish EXIT INT TERM
[[ ! -e $state/cluster/settings ]] || cluster down >/dev/null
free_port >"$state/extender-port"
free_port >"$state/second-controller-port"
cluster up --instance 9 --real-nodes 0 --simulated-nodes "$nodes" --extender "http://127.0.0.1:$(<"$state/extender-port")" --controller "$programs"
cluster kubectl apply --filename "$root/examples/profiles" >/dev/null
SYNERGY_TEST_STATE=$state SYNERGY_BIN=$programs "$root/tests/cluster/run.sh" benches/soak.py "${arguments[@]}"
