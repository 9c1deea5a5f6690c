# shellcheck shell=bash
# Runs one synergy-extender as a process of this machine; process.sh keeps its record in $STATE.

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# start_extender FOLDER_OF_PROGRAMS KUBECONFIG PORT [FLAGS...]: starts the extender, and returns
# when it is ready.
start_extender() {
  local programs=$1 kubeconfig=$2 port=$3
  shift 3
  mkdir -p "$STATE/pids" "$STATE/logs"
  spawn synergy-extender "$programs/synergy-extender" --kubeconfig "$kubeconfig" --listen "127.0.0.1:$port" "$@"
  wait_until 240 "the extender to be ready" curl --silent --fail --max-time 2 "http://127.0.0.1:$port/readyz"
}

# Does nothing if none runs.
stop_extender() {
  [[ ! -e $STATE/pids/synergy-extender ]] || stop_component synergy-extender
  rm -f "$STATE/pids/synergy-extender"
}
