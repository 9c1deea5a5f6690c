# shellcheck shell=bash
# shellcheck disable=SC2034 # the settings are read by the other pieces
# The options of a cluster. $STATE/settings contains them from before the first change until after
# the last clean-up. $STATE/ready exists after an `up` has succeeded.

SETTINGS=(
  INSTANCE REAL_NODES REAL_NODE_CPU SIMULATED_NODES SHAPE EXTENDER CONTROLLER AGENTS KUEUE OPERATORS JOB_OPERATORS SCHEDULER_CONFIG SERVICES AUDIT SHIPPED
  POD_GROUPS KUBE_BIN CONTAINERD_BIN KWOK_BIN V2_NODES V2_NODE_MEMORY V2_NODE_CPUS
)

parse_settings() {
  local cores
  cores=$(getconf _NPROCESSORS_ONLN)
  INSTANCE=0 REAL_NODES=1 REAL_NODE_CPU='' SIMULATED_NODES=0 SHAPE='' EXTENDER='' CONTROLLER='' AGENTS='' KUEUE='' OPERATORS=''
  JOB_OPERATORS='' SCHEDULER_CONFIG='' SERVICES='' AUDIT='' SHIPPED='' POD_GROUPS='' V2_NODES=0 V2_NODE_MEMORY=3072 V2_NODE_CPUS=2
  while (($#)); do
    case $1 in
      --real-nodes) need_number "$1" "${2-}" 0 4 && REAL_NODES=$2 ;;
      --real-node-cpu) need_number "$1" "${2%m}" 0 $((cores * 1000)) && REAL_NODE_CPU=${2%m} ;;
      --simulated-nodes) need_number "$1" "${2-}" 0 5000 && SIMULATED_NODES=$2 ;;
      --v2-nodes) need_number "$1" "${2-}" 0 2 && V2_NODES=$2 ;;
      --v2-node-memory) need_number "$1" "${2-}" 1024 65536 && V2_NODE_MEMORY=$2 ;;
      --v2-node-cpus) need_number "$1" "${2-}" 1 64 && V2_NODE_CPUS=$2 ;;
      --instance) need_number "$1" "${2-}" 0 15 && INSTANCE=$2 ;;
      --shape) need_file "$1" "${2-}" && SHAPE=$(realpath "$2") ;;
      --scheduler-config) need_file "$1" "${2-}" && SCHEDULER_CONFIG=$(realpath "$2") ;;
      --controller) need_program "$1" "${2-}/synergy-controller" && CONTROLLER=$(realpath "$2") ;;
      --extender) need_value "$1" "${2-}" && EXTENDER=$2 ;;
      --pod-groups)
        [[ ${2-} == api || ${2-} == scheduler ]] || die "--pod-groups is api or scheduler"
        POD_GROUPS=$2
        ;;
      --audit) need_value "$1" "${2-}" && AUDIT=$2 ;;
      --kueue) KUEUE=$(kueue_folder) && shift && continue ;;
      --training-operators) OPERATORS=1 && shift && continue ;;
      --job-operators) JOB_OPERATORS=1 && shift && continue ;;
      --agents) AGENTS=1 && shift && continue ;;
      --services) SERVICES=1 && shift && continue ;;
      --shipped-settings) SHIPPED=1 && shift && continue ;;
      --state) state_option "${2-}" ;;
      *) die "up has no option $1 (--help lists them)" ;;
    esac
    shift 2
  done
  [[ -n $REAL_NODE_CPU ]] || REAL_NODE_CPU=$((REAL_NODES > 1 ? cores * 800 / REAL_NODES : 0))
  [[ -z $EXTENDER || $EXTENDER =~ ^https?://[^/]+ ]] || die "--extender needs a URL such as http://127.0.0.1:8888"
  [[ -z $AGENTS || (-n $CONTROLLER && $REAL_NODES != 0 && -z $SERVICES) ]] ||
    die "--agents needs --controller and real nodes, and goes without --services"
  [[ -z $AGENTS ]] || need_program --agents "$CONTROLLER/synergy-node-agent"
  [[ -z $SERVICES || $REAL_NODES != 0 ]] || die "--services is for real nodes"
  KUBE_BIN=$(kube_folder)
  CONTAINERD_BIN=$(containerd_folder)
  KWOK_BIN=$(kwok_folder)
  set_ports
}

need_file() {
  need_value "$1" "${2-}"
  [[ -r $2 && -f $2 ]] || die "$1: there is no file $2"
}

need_program() {
  need_file "$1" "$2"
  [[ -x $2 ]] || die "$1: $2 is not a program"
}

settings_text() {
  local name
  for name in "${SETTINGS[@]}"; do
    printf '%s=%q\n' "$name" "${!name}"
  done
}

# load_settings: loads the settings of the cluster in $STATE, which must exist.
load_settings() {
  local name
  STATE=$(realpath --canonicalize-missing "$STATE")
  [[ -e $STATE/settings ]] || die "no cluster is up in $STATE: start one with scripts/cluster.sh up"
  # A cluster of an earlier version lacks settings that were added since.
  for name in "${SETTINGS[@]}"; do printf -v "$name" ''; done
  # shellcheck source=/dev/null
  source "$STATE/settings"
  set_ports
}
