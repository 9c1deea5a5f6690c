#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/demo.sh [--keep] [--nodes N] [--part PART] [--skip-setup]

Shows what Synergy does, first in a simulation, then on real Kubernetes, in three parts:

  paper       a simulation: completion times of the paper's workload by mechanism, and a page that shows 100 jobs
  trainers    training programs, not measured before, on four small real nodes (root): a live table of their iterations per
              second while Synergy finds out what each can use; then another one arrives
  trace       the 100 jobs of a recorded trace on simulated nodes: with proportional requests, with requests for all that
              each can use, with requests but no limits, and with Synergy and no requests but GPUs

Sets up and builds what each part needs just before the part, with Go 1.26.6 or newer. The first time, on two cores, the
first part starts after some 4 minutes, the second after 12, and everything is done after 17: this includes building
Kubernetes and containerd once. The demonstration itself takes 5 minutes.

  --part PART    only this part
  --keep         at the end, keep the pods that Synergy placed until you press Enter
  --nodes N      simulated nodes of 8 GPUs, 24 CPUs and 500 GB (16)
  --skip-setup   do not install or build anything
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=scripts/lib/output.sh
source "$here/lib/output.sh"
# shellcheck source=scripts/lib/build.sh
source "$here/lib/build.sh"
# shellcheck source=scripts/lib/disk.sh
source "$here/lib/disk.sh"
# shellcheck source=scripts/lib/process.sh
source "$here/lib/process.sh"
# shellcheck source=scripts/lib/extender.sh
source "$here/lib/extender.sh"

keep=0 nodes=16 setup=1 part=all
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --keep) keep=1 ;;
    --nodes) nodes=${2:?--nodes needs a number} && shift ;;
    --part)
      part=${2:?--part needs a name} && shift
      [[ $part =~ ^(paper|trainers|trace)$ ]] || die "there is no part $part (--help lists them)"
      ;;
    --skip-setup) setup=0 ;;
    *) die "demo.sh has no option $1 (--help lists them)" ;;
  esac
  shift
done

[[ $part == all || $part == trace ]] || keep=0
STATE=${XDG_STATE_HOME:-$HOME/.local/state}/synergy/demo
cluster() { "$here/cluster.sh" --state "$STATE/cluster" "$@"; }
kubectl() { cluster kubectl "$@"; }

finish() {
  local status=$?
  trap - EXIT INT TERM
  stop_extender
  [[ ! -e $STATE/cluster/settings ]] || cluster down >/dev/null
  exit "$status"
}

# prepare WHAT SET_UP_OPTION TARGET...: sets up and builds what a part needs.
prepare() {
  ((setup)) || return 0
  say "Getting ready for $1: packages, then the build"
  "$here/setup.sh" "$2"
  (cd "$root" && cmake --preset release >/dev/null && cmake --build --preset release --target "${@:3}")
}

show_paper() {
  local lab=$root/build/release/bin/synergy-lab data=$root/tests/data/synergy page=$STATE/simulation.html
  say "6925 jobs on 16 servers of 8 GPUs, completion times of jobs 4000 to 5000 in hours: proportional shares, requests without limits, Synergy"
  "$lab" rounds --trace "$data/reference/single_6925job.csv" --profiles "$data/reference/profiles.json" --servers 16 \
    --window 4000:5000 --mechanism proportional,burstable-spread,synergy
  "$lab" rounds --trace "$data/reference/dynamic_100job.csv" --profiles "$data/reference/profiles.json" --servers 4 \
    --mechanism proportional,synergy --html "$page" >/dev/null
  say "100 jobs on 4 servers over time, with proportional shares and with Synergy: open $page in a browser"
}

# The program that measures the trainers starts their cluster and ends it.
show_trainers() {
  say "Trainers on four nodes with two GPUs and a third of a core each; the GPUs are advertised, but do not exist (four minutes)"
  SYNERGY_BIN=$root/build/release/bin SYNERGY_TRAINER=$root/build/release/tests/trainer \
    "$root/tests/cluster/run.sh" benches/demo_trainers.py --instance 5
}

show_trace() {
  say "Starting the control plane, Synergy and $nodes simulated nodes"
  EXTENDER_PORT=$(free_port)
  echo "$EXTENDER_PORT" >"$STATE/extender-port"
  cluster up --instance 5 --real-nodes 0 --simulated-nodes "$nodes" --extender "http://127.0.0.1:$EXTENDER_PORT" \
    --controller "$root/build/release/bin"
  start_extender "$root/build/release/bin" "$STATE/cluster/synergy-extender.kubeconfig" "$EXTENDER_PORT"
  say "The same 100 jobs, one GPU each, in four ways"
  local more=()
  ((!keep)) || more+=(--keep)
  SYNERGY_BIN=$root/build/release/bin \
    "$root/tests/cluster/run.sh" benches/demo_trace.py --folder "$STATE" --nodes "$nodes" "${more[@]}"
}

# Check this now, not after the first part.
if ((setup)) && [[ $part != paper && -z ${SYNERGY_KUBE_BIN-} ]]; then check_go "$root/tests/go.mod"; fi

mkdir -p "$STATE"
trap finish EXIT INT TERM
# Remove what an earlier --keep has left.
stop_extender
[[ ! -e $STATE/cluster/settings ]] || cluster down >/dev/null

if [[ $part == all || $part == paper ]]; then
  prepare "the simulation" --no-cluster synergy-lab
  show_paper
fi
if [[ $part != paper ]]; then
  prepare "real nodes (Kubernetes is built, once)" --demo synergy-extender synergy-controller synergy-node-agent trainer synergy
fi
[[ $part != all && $part != trainers ]] || show_trainers
[[ $part != all && $part != trace ]] || show_trace

say "Where to look next"
cat <<'TEXT'
  README.md           what Synergy is and how it works
  docs/evidence/real-nodes.md  the trainers: all ways to run them, measured repeatedly
  docs/internals/extender.md    how the extender decides, its configuration and metrics
  scripts/demo.sh --keep, then kubectl describe pod: the scheduler's reasons as events
TEXT
