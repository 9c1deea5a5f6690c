# shellcheck shell=bash
# Runs the synergy-node-agent of each real node as a component of the cluster, in the node's
# namespaces, as its DaemonSet would. The controller finds agents by their pods, so a pod with the
# node's address represents each agent.

AGENT_PORT=9412
AGENT_LABEL=app.kubernetes.io/component=node-agent

has_agents() { [[ -n $AGENTS ]]; }

# agent_settings: prints the controller's configuration for the agents.
agent_settings() {
  printf 'progress: {enabled: true, interval: 2s, port: %d, agents: %s, serverName: synergy-node-agent, caFile: %s, listen: "127.0.0.1:%d"}\n' \
    "$AGENT_PORT" "$AGENT_LABEL" "$STATE/pki/ca.crt" "$PROGRESS_PORT"
  # Small trainers need only a short warm-up.
  echo 'profiling: {warmUp: 5s, window: 20s, probeLead: 5s}'
}

# Any failure ends the function, even if the caller tests its status.
apply_agent_manifests() {
  local node
  apply_manifests --filename "$REPOSITORY/manifests/node-agent-rbac.yaml" &&
    run_kubectl create serviceaccount synergy-controller-progress --namespace synergy-system &&
    run_kubectl create clusterrolebinding synergy-controller-reviews --clusterrole system:auth-delegator --user synergy-controller &&
    run_kubectl create clusterrolebinding synergy-node-agent-user --clusterrole synergy-node-agent --user synergy-node-agent || return
  for ((node = 1; node <= REAL_NODES; node++)); do
    agent_pod "$node" | apply_manifests --filename - || return
  done
}

# Installs everything except the processes; runs once for each cluster.
install_agents() {
  local node
  make_certificate agent /CN=synergy-node-agent DNS:synergy-node-agent
  make_user synergy-node-agent /CN=synergy-node-agent
  apply_agent_manifests >>"$STATE/logs/agent-manifests.log" 2>&1 ||
    die "manifests of synergy-node-agent: $(<"$STATE/logs/agent-manifests.log")"
  for ((node = 1; node <= REAL_NODES; node++)); do
    cat >"$STATE/agent-$node.yaml" <<E_O_F
listen: 127.0.0.1:0
nodeName: node-$node
kubeletCgroupRoot: $(cgroup_of "$node")
progressListen: $(subnet_of "$node").1:$AGENT_PORT
tlsCertificateFile: $STATE/pki/agent.crt
tlsKeyFile: $STATE/pki/agent.key
clientCaFile: $STATE/pki/ca.crt
clientName: localhost
podsFolder: /var/lib/kubelet/pods
gpuBusyFile: $STATE/gpu-busy-$node.json  # no device plugin writes this file; tests do
confineWrites: false  # the agent can then see what processes read
log: {level: debug}
E_O_F
  done
}

agent_pod() {
  cat <<E_O_F
apiVersion: v1
kind: Pod
metadata:
  name: agent-$1
  namespace: synergy-system
  labels: {${AGENT_LABEL/=/: }}
spec:
  nodeName: node-$1
  hostNetwork: true
  terminationGracePeriodSeconds: 0
  tolerations: [{operator: Exists}]
  containers: [{name: agent, image: "$IMAGE", imagePullPolicy: Never}]
E_O_F
}

# The agent sees the node's log folder and process ids. It is root, with only the capabilities of
# the chart's nodeAgent.seeReads.
start_agent() {
  spawn_in_node "agent-$1" "$1" setpriv --bounding-set=-all,+sys_ptrace,+dac_read_search --inh-caps=-all --no-new-privs \
    "$CONTROLLER/synergy-node-agent" --kubeconfig "$STATE/synergy-node-agent.kubeconfig" --config "$STATE/agent-$1.yaml"
}
