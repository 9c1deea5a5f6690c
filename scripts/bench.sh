#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/bench.sh extender [--nodes N,N,...] [--json FILE] [--quick]
       scripts/bench.sh scheduler [--rounds N] [--pods N] [--nodes N] [--json FILE]
       scripts/bench.sh relist [--nodes N] [--pods N] [--events N] [--relists N] [--json FILE]
       scripts/bench.sh lists [--pods N] [--rounds N] [--nodes N] [--json FILE]
       scripts/bench.sh webhook [--nodes N] [--reviews N] [--json FILE]
       scripts/bench.sh nodes [--rounds N] [--cycles N] [--sensitive-first] [--json FILE]
       scripts/bench.sh profiling [--rounds N] [--ways WAY,...] [--log bar|lines] [--seconds N] [--kinds [NAME,...]] [--json FILE]
       scripts/bench.sh objective | round | rounds | reservations | simulate [--json FILE]
       scripts/bench.sh replay [--part decisions|queues|one-by-one|free|turns|all] [--pods N] [--runs N] [--nodes N] [--json FILE]
       scripts/bench.sh turns [--runs N] [--round SECONDS] [--json FILE]
       scripts/bench.sh optimus [--runs N] [--round SECONDS] [--json FILE]
       scripts/bench.sh types [--trace FILE] [--policies NAME,NAME] [--round SECONDS] [--json FILE]
       scripts/bench.sh rounds-chaos [--jobs N] [--seconds N] [--kill-every N] [--json FILE]
       scripts/bench.sh gangs [--rounds N] [--times N] [--seed N] [--json FILE]
       scripts/bench.sh promises [--jobs N] [--nodes N] [--max N] [--error SIGMA] [--seed N] [--json FILE]
       scripts/bench.sh tuner [--part passes|work|all] [--nodes N] [--changes N] [--patches-per-second N] [--json FILE]
       scripts/bench.sh guard [--factor N] [--update] [--json FILE]
       scripts/bench.sh device-plugin [CALLS]
       scripts/bench.sh progress [--json FILE]
       scripts/bench.sh pulls [AGENTS]
       scripts/bench.sh gavel [--jobs N] [--json FILE]

Builds the release programs and the benchmark programs, measures, prints tables and shows which goals are met (the exit status
is 1 if one is missed). docs/evidence/benchmarks.md explains the figures. Nothing else should run on the machine meanwhile.

  extender    the extender's calls beside the smallest Go extender, with a stub API server; about 10 minutes
      --nodes N,N,...   cluster sizes (100,1000,5000,15000)
      --quick           only a few calls of each kind: shows that everything works, measures nothing
  scheduler   pods per second that a real kube-scheduler binds in a test cluster with simulated nodes
              (scripts/setup.sh installs what it needs); about 10 minutes
      --rounds N        rounds with each extender (5)
      --pods N          pods in each round (1000)
      --nodes N         simulated nodes (1000)
      --instance N      number from which the cluster's ports and addresses follow (9)
  webhook     the controller's reviews of GPU pods, over TLS, while pods come and go; a minute
      --nodes N         nodes of the cluster (5000)
      --reviews N       reviews of the first load; each connection of the other loads makes five times as many (5000)
  relist      the extender's filter and the controller's reviews while pods change, and while all of them are listed again;
              three minutes
      --nodes N         nodes of the cluster (5000)
      --pods N          pods of the cluster (150000)
      --events N        pod events per second (1000)
      --relists N       how many times each program lists all pods again (8)
  lists       what a list of all pods costs an API server and a client as JSON, as protobuf and compressed, in a test cluster
              (scripts/setup.sh installs what it needs); five minutes
      --pods N          pods in the list (20000)
      --rounds N        how many times each form is requested (5)
      --nodes N         simulated nodes (200)
      --instance N      number from which the cluster's ports and addresses follow (8)
  nodes       iterations per second of trainers on four real nodes, under kube-scheduler and Synergy, and how soon a pod
              runs that arrives beside full ones (root; scripts/setup.sh installs what it needs); about 10 minutes
      --rounds N        how many times all ways are measured (4)
      --cycles N        how many times two pods arrive and leave (5)
      --sensitive-first create the pods in the order in which kube-scheduler happens to mix the kinds of trainers
      --instance N      number from which the cluster's ports and addresses follow (6)
  profiling   iterations per second of trainers without a profile on four real nodes, which are measured while they train,
              compared with hand-made profiles (root; scripts/setup.sh installs what it needs); about an hour
      --rounds N        how many times all ways are measured (5)
      --ways WAY,...    enforcement modes (strict,shared)
      --seconds N       from the trainers' start to the measurement (180)
      --kinds [NAME,..] instead, measure trainers whose speed is hard to measure, all or these, and show the conclusions about
                        them; 25 minutes
      --instance N      number from which the cluster's ports and addresses follow (6)
  objective   total throughput of a full cluster under each mechanism, compared with the most that is possible; seconds
  round       CPU time of scheduling rounds with up to 80,000 GPUs and 100,000 jobs; seconds
  rounds      CPU time of deciding which jobs have a turn in a queue in which 10,000 wait and 2000 run; seconds
  reservations    CPU time of planning GPU reservations on 5000 nodes where 40,000 pods run and 1000 jobs wait; seconds
  simulate    CPU time and memory of whole simulations; a minute
  replay      whether pods of a test cluster with simulated nodes get the nodes and amounts that synergy simulate predicts,
              and run as long (scripts/setup.sh installs what it needs); about an hour
      --part WHAT       decisions: makes recorded decisions again; queues: the same for a Kueue queue; one-by-one: each pod
                        when nothing else changes; free: the recorded static trace, compressed; turns: a part of it in a
                        Kueue queue, under las and srtf (all)
      --pods N          pods one by one (30)
      --runs N          free runs, and runs with turns under each policy (5)
      --jobs N          jobs of a free run (100)
      --jobs-in-turns N, --round N, --least N
                        jobs of a run with turns (60), seconds of a round (10), shortest turn in seconds (5)
      --compression N   how many times faster than the trace a free run is (240)
      --nodes N         simulated nodes (4)
      --seed N          seed of the pods one by one (5)
      --instance N      number from which the cluster's ports and addresses follow (4)
  turns       how long trainings take when they take turns in a Kueue queue on two real nodes, one of them a JobSet, compared
              with synergy-lab rounds, and what they lose (root; scripts/setup.sh installs what it needs); twenty minutes
      --runs N          number of runs (2)
      --round SECONDS   length of a round (60)
      --instance N      number from which the cluster's ports and addresses follow (10)
  optimus     how long two elastic trainings and a third that arrives later take on a real node, under policy: optimus and
              with equal shares, and what they lose (root; scripts/setup.sh installs what it needs); a quarter of an hour
      --runs N          number of runs (1)
      --round SECONDS   length of a round (20)
      --instance N      number from which the cluster's ports and addresses follow (9)
  types       how long the jobs of a trace take when Gavel's policies choose their GPU types, in a Kueue queue on simulated
              nodes of three products, compared with synergy-lab rounds (root; scripts/setup.sh installs what it needs); half
              an hour
      --trace FILE      trace of Gavel's authors (tests/data/gavel/runs/cont_single_80.trace)
      --jobs N          only the first N (80)
      --policies NAME,NAME   the second has to be slower by as much as the simulator predicts (gavel-las,gavel-las-agnostic)
      --nodes N         nodes of each product, with a GPU each (12)
      --round SECONDS   length of a round (20)
      --compression N   divisor of the jobs' work (120)
      --arrivals N      divisor of the time from one job to the next (360)
      --cost SECONDS    cost of a move, as the policy states (4)
      --goal X          how far mean completion times may be outside the simulated range (0.05)
      --patience SECONDS   when to give up a run (2400)
      --keep FOLDER     store every job's runs in this folder
      --instance N      number from which the cluster's ports and addresses follow (11)
  rounds-chaos    jobs that take turns in a Kueue queue on simulated nodes while the controller is killed again and again:
              all finish, within the quota, and no record is lost (scripts/setup.sh installs what it needs); a quarter of an
              hour
      --jobs N          jobs, of 1, 2 and 4 GPUs (100)
      --seconds N       how long the kills last (600)
      --kill-every N    seconds from one kill to the next (20)
      --round N         length of a round in seconds (13)
      --gpus N          the queue's quota (16)
      --work N N        shortest and longest work of a job in seconds (25 95)
      --nodes N         simulated nodes with 8 GPUs each (3)
      --seed N          seed of the jobs (1)
      --instance N      number from which the cluster's ports and addresses follow (10)
  gangs       two gangs of eight that need the same eight GPUs, again and again: one always runs whole, parts of both never
              run, and no place stays reserved; then how soon gangs run that are spread, need cuts, or need places reserved for
              a lower priority (scripts/setup.sh installs what it needs); twenty minutes
      --rounds N        number of races (100)
      --times N         number of measurements for each figure (5)
      --seed N          seed of what happens in between (5)
      --instance N      number from which the cluster's ports and addresses follow (8)
  promises    how accurate the predicted starts of GPU reservations are, for jobs on simulated nodes whose reported remaining
              times are wrong (scripts/setup.sh installs what it needs); half an hour
      --jobs N          jobs, of 1, 2, 4 and 8 GPUs (200)
      --nodes N         simulated nodes with 8 GPUs each (16)
      --max N           reservations at a time (4)
      --error SIGMA     sigma of the lognormal factor by which each job's remaining times are wrong (0.3)
      --seed N          seed of the jobs (1)
      --instance N      number from which the cluster's ports and addresses follow (9)
  tuner       how long the tuner takes to decide for a large cluster, how soon it serves a pod that arrives meanwhile, and
              whether it keeps to its rate; two minutes
      --part WHAT       passes: only decisions; work: everything in real time (all)
      --nodes N         nodes, with 8 GPU pods each (5000)
      --changes N       changes to be made (1000)
      --patches-per-second N   as in the controller's configuration (50)
  guard       whether a round, a simulation or a pod's placement is slower than the figures in tests/bench/rounds/guard.json,
              multiples of a yardstick that is measured beside them; seconds
      --factor N        how many times its stored figure each may be (1.5)
      --update          store the measured figures
  device-plugin   resident memory of synergy-device-plugin, and how long a kubelet waits for its answers; seconds
  progress    CPU time for a line of a training's log, for each format and for lines without progress; seconds
  pulls       what it costs a replica of the controller to ask all node agents (5000) for progress; seconds
  gavel       CPU time of Gavel's policies, compared with the authors' programs; a minute
      --jobs N          only problems of at most so many jobs
  all
      --json FILE       write all figures to FILE
      -h, --help        this text
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/.." && pwd)
# shellcheck source=lib/output.sh
source "$here/lib/output.sh"

extender=$repository/build/release/bin/synergy-extender
programs=$repository/build/bench

build_all() {
  command -v go >/dev/null || die "go is missing: tests/go.mod names the version that is needed"
  say "building the extender (release) and the benchmark programs"
  (cd "$repository" && cmake --preset release >/dev/null && cmake --build --preset release --target synergy-extender synergy-controller) >&2
  mkdir -p "$programs"
  (cd "$repository/tests" && go build -trimpath -o "$programs/" ./bench/...)
}

run_extender() {
  local arguments=()
  while (($#)); do
    case $1 in
      --nodes | --json)
        need_value "$1" "${2-}"
        arguments+=("$1" "$2")
        shift
        ;;
      --quick) arguments+=(--quick) ;;
      *) die "bench.sh extender has no option $1 (--help lists them)" ;;
    esac
    shift
  done
  build_all
  "$programs/extender" --programs "$programs" --extender-binary "$extender" "${arguments[@]}"
}

run_scheduler() {
  local arguments=() nodes=1000 instance=9
  while (($#)); do
    case $1 in
      --json)
        need_value "$1" "${2-}"
        arguments+=("$1" "$2")
        ;;
      --rounds) need_number "$1" "${2-}" 1 1000 && arguments+=("$1" "$2") ;;
      --pods) need_number "$1" "${2-}" 2 100000 && arguments+=("$1" "$2") ;;
      --nodes) need_number "$1" "${2-}" 1 5000 && nodes=$2 ;;
      --instance) need_number "$1" "${2-}" 0 9 && instance=$2 ;;
      *) die "bench.sh scheduler has no option $1 (--help lists them)" ;;
    esac
    shift 2
  done
  build_all
  state=$(mktemp -d --tmpdir synergy-bench-cluster.XXXXXX)
  trap 'end_cluster' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  "$here/cluster.sh" up --state "$state" --instance "$instance" --real-nodes 0 --simulated-nodes "$nodes" >&2
  local environment
  environment=$("$here/cluster.sh" env --state "$state")
  eval "$environment"
  "$programs/scheduler" --kubeconfig "$KUBECONFIG" --kube-scheduler "$(dirname "$SYNERGY_CLUSTER_KUBECTL")/kube-scheduler" \
    --programs "$programs" --extender-binary "$extender" "${arguments[@]}"
}

run_webhook() {
  local arguments=()
  while (($#)); do
    case $1 in
      --json) need_value "$1" "${2-}" ;;
      --nodes) need_number "$1" "${2-}" 1 100000 ;;
      --reviews) need_number "$1" "${2-}" 100 1000000 ;;
      *) die "bench.sh webhook has no option $1 (--help lists them)" ;;
    esac
    arguments+=("$1" "$2")
    shift 2
  done
  build_all
  "$programs/webhook" --programs "$programs" --controller-binary "$repository/build/release/bin/synergy-controller" "${arguments[@]}"
}

run_relist() {
  local arguments=()
  while (($#)); do
    case $1 in
      --json) need_value "$1" "${2-}" ;;
      --nodes) need_number "$1" "${2-}" 1 100000 ;;
      --pods | --events) need_number "$1" "${2-}" 1 1000000 ;;
      --relists) need_number "$1" "${2-}" 1 1000 ;;
      *) die "bench.sh relist has no option $1 (--help lists them)" ;;
    esac
    arguments+=("$1" "$2")
    shift 2
  done
  build_all
  "$programs/relist" --programs "$programs" --binaries "$(dirname "$extender")" "${arguments[@]}"
}

run_lists() {
  "$repository/tests/cluster/run.sh" benches/list_bench.py "$@"
}

run_nodes() {
  say "building the extender, the controller and the trainer (release)"
  (cd "$repository" && cmake --preset release >/dev/null &&
    cmake --build --preset release --target synergy-extender synergy-controller trainer) >&2
  SYNERGY_BIN=$repository/build/release/bin SYNERGY_TRAINER=$repository/build/release/tests/trainer \
    "$repository/tests/cluster/run.sh" benches/measure_real_nodes.py --goals "$@"
}

run_profiling() {
  say "building the programs and the trainer (release)"
  (cd "$repository" && cmake --preset release >/dev/null &&
    cmake --build --preset release --target synergy synergy-extender synergy-controller synergy-node-agent trainer) >&2
  SYNERGY_BIN=$repository/build/release/bin SYNERGY_TRAINER=$repository/build/release/tests/trainer \
    "$repository/tests/cluster/run.sh" benches/measure_blind.py --goals "$@"
}

run_replay() {
  local state
  say "building the extender, the controller and the command line (release)"
  (cd "$repository" && cmake --preset release >/dev/null &&
    cmake --build --preset release --target synergy-extender synergy-controller synergy) >&2
  state=$(mktemp -d --tmpdir synergy-replay.XXXXXX)
  # The cluster's files can explain a difference.
  say "the test cluster's files are in $state"
  SYNERGY_BIN=$repository/build/release/bin "$repository/tests/cluster/run.sh" benches/replay_bench.py \
    --programs "$repository/build/release/bin" --state "$state" "$@"
}

run_turns() { run_trainings turns_bench.py "$@"; }
run_optimus() { run_trainings optimus_bench.py "$@"; }

run_trainings() {
  say "building the programs and the trainer (release)"
  (cd "$repository" && cmake --preset release >/dev/null &&
    cmake --build --preset release --target synergy synergy-lab synergy-extender synergy-controller synergy-node-agent trainer) >&2
  SYNERGY_BIN=$repository/build/release/bin SYNERGY_TRAINER=$repository/build/release/tests/trainer \
    "$repository/tests/cluster/run.sh" "benches/$1" "${@:2}"
}

run_types() {
  say "building the programs (release)"
  (cd "$repository" && cmake --preset release >/dev/null &&
    cmake --build --preset release --target synergy synergy-lab synergy-extender synergy-controller) >&2
  SYNERGY_BIN=$repository/build/release/bin "$repository/tests/cluster/run.sh" benches/types_bench.py "$@"
}

run_rounds_chaos() {
  say "building the extender and the controller (release)"
  (cd "$repository" && cmake --preset release >/dev/null &&
    cmake --build --preset release --target synergy-extender synergy-controller) >&2
  SYNERGY_BIN=$repository/build/release/bin "$repository/tests/cluster/run.sh" queueing/rounds_chaos.py "$@"
}

# run_on_simulated_nodes FILE OPTIONS...: runs this program of tests/cluster/benches.
run_on_simulated_nodes() {
  say "building the extender and the controller (release)"
  (cd "$repository" && cmake --preset release >/dev/null &&
    cmake --build --preset release --target synergy-extender synergy-controller) >&2
  SYNERGY_BIN=$repository/build/release/bin "$repository/tests/cluster/run.sh" "benches/$1" "${@:2}"
}

run_gangs() { run_on_simulated_nodes gangs_bench.py "$@"; }
run_promises() { run_on_simulated_nodes promises_bench.py "$@"; }

end_cluster() {
  "$here/cluster.sh" down --state "$state" >&2 || warn "the test cluster in $state did not end"
  rmdir "$state" 2>/dev/null || true
}

build_rounds() {
  say "building the benchmark (release)"
  (cd "$repository" && cmake --preset release >/dev/null && cmake --build --preset release --target rounds_bench) >&2
}

# run_rounds objective|round|rounds|reservations|simulate OPTIONS...: runs one of these benchmarks.
run_rounds() {
  local what=$1 arguments=()
  shift
  if (($#)); then
    [[ $1 == --json ]] || die "bench.sh $what has no option $1 (--help lists them)"
    need_value "$1" "${2-}"
    arguments=(--json "$2")
  fi
  build_rounds
  "$repository/build/release/tests/rounds_bench" "$what" --data "$repository/tests/data/synergy/reference" "${arguments[@]}"
}

run_guard() {
  local arguments=()
  while (($#)); do
    case $1 in
      --json | --factor) need_value "$1" "${2-}" && arguments+=("$1" "$2") && shift 2 ;;
      --update) arguments+=("$1") && shift ;;
      *) die "bench.sh guard has no option $1 (--help lists them)" ;;
    esac
  done
  build_rounds
  "$repository/build/release/tests/rounds_bench" guard --data "$repository/tests/data/synergy/reference" \
    --stored "$repository/tests/bench/rounds/guard.json" "${arguments[@]}"
}

run_tuner() {
  local arguments=()
  while (($#)); do
    case $1 in
      --json | --part) need_value "$1" "${2-}" ;;
      --nodes) need_number "$1" "${2-}" 200 100000 ;;
      --changes) need_number "$1" "${2-}" 1 100000 ;;
      --patches-per-second) need_number "$1" "${2-}" 1 10000 ;;
      *) die "bench.sh tuner has no option $1 (--help lists them)" ;;
    esac
    arguments+=("$1" "$2")
    shift 2
  done
  say "building the benchmark (release)"
  (cd "$repository" && cmake --preset release >/dev/null && cmake --build --preset release --target tuner_bench) >&2
  "$repository/build/release/tests/tuner_bench" "${arguments[@]}"
}

run_device_plugin() {
  say "building the device plugin and its benchmark (release)"
  (cd "$repository" && cmake --preset release >/dev/null &&
    cmake --build --preset release --target synergy-device-plugin device_plugin_bench) >&2
  "$repository/build/release/tests/device_plugin_bench" "$repository/build/release/bin/synergy-device-plugin" "$@"
}

run_progress() {
  say "building the benchmark (release)"
  (cd "$repository" && cmake --preset release >/dev/null && cmake --build --preset release --target progress_bench) >&2
  "$repository/build/release/tests/progress_bench" "$@"
}

run_gavel() {
  say "building the benchmark (release)"
  (cd "$repository" && cmake --preset release >/dev/null && cmake --build --preset release --target gavel_bench) >&2
  "$repository/build/release/tests/gavel_bench" --data "$repository/tests/bench/gavel" "$@"
}

run_pulls() {
  say "building the benchmark (release)"
  (cd "$repository" && cmake --preset release >/dev/null && cmake --build --preset release --target pulls_bench) >&2
  "$repository/build/release/tests/pulls_bench" "$@"
}

case ${1-} in
  device-plugin) run_device_plugin "${@:2}" ;;
  rounds-chaos) run_rounds_chaos "${@:2}" ;;
  objective | round | rounds | reservations | simulate) run_rounds "$@" ;;
  extender | scheduler | relist | lists | webhook | nodes | profiling | replay | gangs | promises | tuner | turns | optimus | types)
    "run_$1" "${@:2}" ;;
  guard | progress | pulls | gavel) "run_$1" "${@:2}" ;;
  -h | --help | help) usage ;;
  '') usage >&2 && exit 2 ;;
  *) die "unknown benchmark $1 (--help lists them)" ;;
esac
