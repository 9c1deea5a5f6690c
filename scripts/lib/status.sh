# shellcheck shell=bash
# Shows the state of a cluster: as a table for people, or as JSON for programs.

# components_json: prints [{component, pid, state, log}].
components_json() {
  local name
  for name in $(components); do
    jq -n --arg component "$name" --arg pid "$(component_pid "$name" || true)" --arg state "$(component_state "$name")" \
      --arg log "$STATE/logs/$name.log" '{$component, pid: ($pid | tonumber? // null), $state, $log}'
  done | jq -s .
}

# nodes_json: prints [{name, kind, ready, schedulable, cpu, memory, gpus}], or an empty list if the
# API server does not answer. Reads the API server's cache, so that repeated calls cost little.
nodes_json() {
  { api_get '/api/v1/nodes?resourceVersion=0' 2>/dev/null || echo '{"items": []}'; } | jq '[.items[] | {
    name: .metadata.name,
    kind: (.metadata.labels["synergy.test/node"] // "other"),
    ready: any(.status.conditions[]?; .type == "Ready" and .status == "True"),
    schedulable: ((.spec.taints // []) == [] and (.spec.unschedulable | not)),
    cpu: .status.allocatable.cpu,
    memory: .status.allocatable.memory,
    gpus: (.status.allocatable["nvidia.com/gpu"] // "0" | tonumber)
  }]'
}

# show_status table|json: prints the state; fails if a component has died.
show_status() {
  local components nodes
  components=$(components_json)
  nodes=$(nodes_json)
  if [[ $1 == json ]]; then
    # The JSON of thousands of nodes is too long for an argument.
    jq --arg state "$STATE" --arg api "$API" --argjson components "$components" \
      '{$state, $api, $components, nodes: .}' <<<"$nodes"
  else
    jq -r '["COMPONENT", "PID", "STATE", "LOG"], (.[] | [.component, .pid // "-", .state, .log]) | @tsv' \
      <<<"$components" | as_columns
    echo
    if [[ $nodes == "[]" ]] && ! api_is_ready &>/dev/null; then
      say "kube-apiserver does not answer, so nothing is known about the nodes"
    fi
    # The table counts simulated nodes, instead of printing a thousand equal lines.
    jq -r '["NODE", "KIND", "READY", "CPU", "MEMORY", "GPUS"],
        (.[] | select(.kind != "simulated") | [.name, .kind, .ready, .cpu, .memory, .gpus]),
        ([.[] | select(.kind == "simulated")] | select(length > 0)
          | ["(\(length) nodes)", "simulated", "\(map(select(.ready)) | length) of \(length)", "-", "-", (map(.gpus) | add)])
        | @tsv' <<<"$nodes" | as_columns
  fi
  # shellcheck disable=SC2046 # one word for each component
  fail_if_dead $(components)
}

as_columns() {
  awk -F '\t' '
    { for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) } fields[NR] = NF }
    END { for (row = 1; row <= NR; row++) for (i = 1; i <= fields[row]; i++)
            printf i < fields[row] ? "%-" width[i] + 2 "s" : "%s\n", cell[row, i] }'
}

# print_environment: prints lines for eval "$(scripts/cluster.sh env)".
print_environment() {
  printf 'export KUBECONFIG=%q\n' "$STATE/admin.kubeconfig"
  printf 'export SYNERGY_CLUSTER_STATE=%q\n' "$STATE"
  printf 'export SYNERGY_CLUSTER_API=%q\n' "$API"
  printf 'export SYNERGY_CLUSTER_KUBECTL=%q\n' "$KUBE_BIN/kubectl"
  printf 'export SYNERGY_EXTENDER_KUBECONFIG=%q\n' "$STATE/synergy-extender.kubeconfig"
  printf 'export SYNERGY_CONTROLLER_KUBECONFIG=%q\n' "$STATE/synergy-controller.kubeconfig"
  printf 'export SYNERGY_CONTROLLER_URL=%q\n' "http://127.0.0.1:$CONTROLLER_PORT"
  printf 'export SYNERGY_PROGRESS_URL=%q\n' "https://127.0.0.1:$PROGRESS_PORT/progress"
}
