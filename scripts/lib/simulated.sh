# shellcheck shell=bash
# Simulated nodes: Node objects that kwok keeps Ready, with pods that run only in the API.

start_kwok() {
  # Without this folder, kwok would also read ~/.kwok.
  spawn kwok env KWOK_WORKDIR="$STATE/kwok" "$KWOK_BIN/kwok" --kubeconfig "$STATE/kwok.kubeconfig" \
    --config "$REPOSITORY/tests/cluster/support/kwok/stages.yaml" \
    --manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake \
    --node-lease-duration-seconds "$(lease_seconds)" \
    --cidr "$(subnet_of 128).0/17" --node-ip 127.0.0.1 --server-address "127.0.0.1:$KWOK_PORT"
}

# lease_seconds: prints the duration of a simulated node's lease. For up to 200 nodes, it is a
# kubelet's value. A lease is renewed four times in its life. With more nodes, leases are longer, so
# that there are never more than twenty renewals a second, which cost a tenth of a core.
lease_seconds() {
  local nodes
  nodes=$(count_simulated_nodes)
  echo $((nodes > 200 ? nodes / 5 : 40))
}

# write_simulated_nodes: writes $STATE/simulated-nodes.json, before any component is started.
write_simulated_nodes() {
  if ! has_simulated_nodes; then
    echo '{"items": []}' >"$STATE/simulated-nodes.json"
    return
  fi
  local shapes=${SHAPE:-$REPOSITORY/tests/cluster/support/shapes/v100.yaml}
  yaml_to_json "$shapes" |
    jq --argjson count "$SIMULATED_NODES" --from-file "$REPOSITORY/tests/cluster/support/shapes/nodes.jq" \
      >"$STATE/simulated-nodes.json" || die "$shapes is not a list of node shapes"
}

count_simulated_nodes() {
  jq '.items | length' "$STATE/simulated-nodes.json"
}

create_simulated_nodes() {
  create_objects --filename "$STATE/simulated-nodes.json" >"$STATE/logs/simulated-nodes.log"
}
