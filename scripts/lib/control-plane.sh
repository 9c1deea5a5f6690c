# shellcheck shell=bash
# shellcheck disable=SC2034 # the ports are read by the other pieces
# etcd and the Kubernetes control plane, all on 127.0.0.1.

# The ports have the same last digits as Kubernetes' usual ones. Each instance has its own hundred.
set_ports() {
  local base=$((16400 + 100 * INSTANCE))
  API_PORT=$((base + 43))
  ETCD_PORT=$((base + 79))
  ETCD_PEER_PORT=$((base + 80))
  CONTROLLER_MANAGER_PORT=$((base + 57))
  SCHEDULER_PORT=$((base + 59))
  SYNERGY_SCHEDULER_PORT=$((base + 60))
  WEBHOOK_PORT=$((base + 44))
  CONTROLLER_PORT=$((base + 45))
  PROGRESS_PORT=$((base + 46))
  KWOK_PORT=$((base + 47))
  KUEUE_PORT=$((base + 48)) # of its webhooks
  KUEUE_HEALTH_PORT=$((base + 49))
  JOBSET_PORT=$((base + 50)) # of its webhooks
  JOBSET_HEALTH_PORT=$((base + 51))
  TRAINER_PORT=$((base + 52)) # of its webhooks
  TRAINER_HEALTH_PORT=$((base + 53))
  LWS_PORT=$((base + 54)) # of its webhooks
  LWS_HEALTH_PORT=$((base + 55))
  KUBERAY_HEALTH_PORT=$((base + 56))
  KUBELET_HEALTH_PORT=$((base + 90)) # plus the node's number
  # With Services, pods call the API server, so it cannot be on loopback.
  API_ADDRESS=127.0.0.1
  [[ -z ${SERVICES-} ]] || API_ADDRESS=$(uplink_address 0)
  API=https://$API_ADDRESS:$API_PORT
}

# This cluster has no data worth keeping, so etcd does not wait for the disk. Progress notices, as
# kubeadm configures them, keep the API server's caches of rarely changed resources at the resource
# versions that clients ask for.
start_etcd() {
  spawn etcd etcd --name test --data-dir "$STATE/etcd" --unsafe-no-fsync --logger zap --log-outputs stderr \
    --experimental-watch-progress-notify-interval 5s \
    --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
    --initial-advertise-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
    --initial-cluster "test=http://127.0.0.1:$ETCD_PEER_PORT"
}

# Prints the feature gates for Kubernetes' own PodGroups, for their topology, and for those that the
# Job controller creates.
pod_group_gates() { echo GenericWorkload=true,TopologyAwareWorkloadScheduling=true,WorkloadWithJob=true; }

start_kube_apiserver() {
  local pki=$STATE/pki endpoints=none more=() gates=WatchList=false
  # The API server itself resolves webhooks' Services to pods, because it has no kube-proxy.
  if [[ -n $SERVICES ]]; then endpoints=lease more+=(--enable-aggregator-routing); fi
  if [[ -n $AUDIT ]]; then
    write_audit_policy
    more+=(--audit-policy-file "$STATE/audit-policy.json" --audit-log-path "$STATE/logs/audit.log" --audit-log-mode blocking)
  fi
  if [[ -n $POD_GROUPS ]]; then
    gates+=,$(pod_group_gates)
    more+=(--runtime-config scheduling.k8s.io/v1beta1=true)
  fi
  write_admission_configuration
  # The API server calls kubelets at their bridge's address. Without --services it calls no Service,
  # and needs no reconciled endpoints (which may not be loopback addresses). Streamed lists need
  # etcd 3.4.31 or newer: with the feature, an older etcd refuses every watch from resource version
  # 0, and kwok makes such watches. Garbage is collected less often than by default, because
  # collections take an eighth of the CPU time, which matters on small machines; the default would
  # save some memory. The authority of a front proxy, which does not exist here, avoids an error a
  # minute in the logs of other programs.
  spawn kube-apiserver env GOGC=200 "$KUBE_BIN/kube-apiserver" \
    --etcd-servers "http://127.0.0.1:$ETCD_PORT" \
    --bind-address "$API_ADDRESS" --advertise-address "$API_ADDRESS" --secure-port "$API_PORT" \
    --endpoint-reconciler-type "$endpoints" \
    --cert-dir "$pki" --tls-cert-file "$pki/kube-apiserver.crt" --tls-private-key-file "$pki/kube-apiserver.key" \
    --client-ca-file "$pki/ca.crt" --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
    --admission-control-config-file "$STATE/admission.json" \
    --service-account-key-file "$pki/service-account.key" \
    --service-account-signing-key-file "$pki/service-account.key" \
    --service-account-issuer https://kubernetes.default.svc --service-cluster-ip-range 10.96.0.0/16 \
    --kubelet-certificate-authority "$pki/ca.crt" --kubelet-preferred-address-types InternalIP \
    --kubelet-client-certificate "$pki/kubelet-client.crt" --kubelet-client-key "$pki/kubelet-client.key" \
    --requestheader-client-ca-file "$pki/ca.crt" --requestheader-allowed-names nobody \
    --allow-privileged --feature-gates "$gates" "${more[@]}"
}

# The API server presents its certificate to webhooks that ask for one.
write_admission_configuration() {
  jq -n --arg pki "$STATE/pki" '{
    apiVersion: "v1", kind: "Config", users: [{name: "*", user: {
      "client-certificate": "\($pki)/webhook-client.crt", "client-key": "\($pki)/webhook-client.key"}}]}' >"$STATE/webhook-client.kubeconfig"
  jq -n --arg file "$STATE/webhook-client.kubeconfig" '{
    apiVersion: "apiserver.config.k8s.io/v1", kind: "AdmissionConfiguration",
    plugins: ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"] | map({name: ., configuration: {
      apiVersion: "apiserver.config.k8s.io/v1", kind: "WebhookAdmissionConfiguration", kubeConfigFile: $file}})}' >"$STATE/admission.json"
}

# Makes the API server log calls of the service accounts in the namespace $AUDIT, with account,
# verb, resource and status.
write_audit_policy() {
  jq -n --arg group "system:serviceaccounts:$AUDIT" '{
    apiVersion: "audit.k8s.io/v1", kind: "Policy", omitStages: ["RequestReceived"],
    rules: [{level: "Metadata", userGroups: [$group]}, {level: "None"}]}' >"$STATE/audit-policy.json"
}

# The ttl controller is off: it writes to every node whenever the number of nodes passes 100, 500 or
# 1000. Quotas are recounted often, because the API server counts an update twice if it has to retry
# it.
start_kube_controller_manager() {
  local kubeconfig=$STATE/kube-controller-manager.kubeconfig more=()
  [[ -z $POD_GROUPS ]] || more+=(--feature-gates "$(pod_group_gates)")
  spawn kube-controller-manager "$KUBE_BIN/kube-controller-manager" \
    --bind-address 127.0.0.1 --secure-port "$CONTROLLER_MANAGER_PORT" --leader-elect=false \
    --kubeconfig "$kubeconfig" --authentication-kubeconfig "$kubeconfig" --authorization-kubeconfig "$kubeconfig" \
    --controllers '*,-ttl-controller' --resource-quota-sync-period 20s --node-monitor-grace-period "$(node_grace_seconds)s" \
    --kube-api-qps 500 --kube-api-burst 1000 --use-service-account-credentials \
    --service-account-private-key-file "$STATE/pki/service-account.key" --root-ca-file "$STATE/pki/ca.crt" "${more[@]}"
}

# Prints Kubernetes' default of 50 seconds, or more if simulated nodes renew their leases less
# often.
node_grace_seconds() {
  local lease
  lease=$(lease_seconds)
  echo $((lease > 40 ? lease + 10 : 50))
}

# start_scheduler NAME PORT: starts a kube-scheduler with the configuration $STATE/NAME.config.
start_scheduler() {
  local kubeconfig=$STATE/kube-scheduler.kubeconfig more=()
  [[ $POD_GROUPS != scheduler ]] || more+=(--feature-gates "$(pod_group_gates)")
  spawn "$1" "$KUBE_BIN/kube-scheduler" --config "$STATE/$1.config" \
    --bind-address 127.0.0.1 --secure-port "$2" \
    --authentication-kubeconfig "$kubeconfig" --authorization-kubeconfig "$kubeconfig" "${more[@]}"
}

start_kube_scheduler() {
  start_scheduler kube-scheduler "$SCHEDULER_PORT"
}

# An extender serves every profile of its kube-scheduler. So the Synergy profile has its own
# process, and the extender never gets pods of the default scheduler.
start_synergy_scheduler() {
  start_scheduler synergy-scheduler "$SYNERGY_SCHEDULER_PORT"
}

# Fills in what differs between this cluster and the shipped configuration: addresses and speed.
write_scheduler_configs() {
  local shipped=${SCHEDULER_CONFIG:-$REPOSITORY/manifests/scheduler-config.yaml}
  # shellcheck disable=SC2016 # jq's variables, not the shell's
  local fill='.leaderElection = {leaderElect: false}
    | .clientConnection += {kubeconfig: $kubeconfig, qps: 5000, burst: 10000}'
  jq -n --arg kubeconfig "$STATE/kube-scheduler.kubeconfig" \
    '{apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration"} | '"$fill" \
    >"$STATE/kube-scheduler.config"
  if has_synergy_scheduler; then
    yaml_to_json "$shipped" |
      jq --arg kubeconfig "$STATE/kube-scheduler.kubeconfig" --arg extender "$EXTENDER" \
        "$fill"' | if $extender != "" then .extenders[0].urlPrefix = $extender else . end' \
        >"$STATE/synergy-scheduler.config" || die "$shipped is not a scheduler configuration"
  fi
}

yaml_to_json() {
  /usr/bin/python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)' "$1"
}

# api_get PATH: makes one request as the administrator. This costs much less than kubectl.
api_get() {
  curl --silent --show-error --fail --max-time 10 --cacert "$STATE/pki/ca.crt" \
    --cert "$STATE/pki/admin.crt" --key "$STATE/pki/admin.key" "$API$1"
}

api_is_ready() { api_get /readyz; }
etcd_is_ready() { curl --silent --fail --max-time 2 "http://127.0.0.1:$ETCD_PORT/health"; }
# The schedulers have self-signed certificates; the check is only whether they answer.
scheduler_is_ready() { curl --silent --fail --insecure --max-time 2 "https://127.0.0.1:$1/healthz"; }
default_account_is_there() { api_get /api/v1/namespaces/default/serviceaccounts/default; }

# kubectl's cache for an API server must not outlive the cluster.
run_kubectl() {
  KUBECONFIG=$STATE/admin.kubeconfig KUBECACHEDIR=$STATE/kubectl-cache "$KUBE_BIN/kubectl" "$@"
}

# apply_manifests OPTION..., create_objects OPTION...: run kubectl apply and create without
# kubectl's own checks, because the API server checks anyway. kubectl's checks need the OpenAPI of
# all kinds, which the API server generates again after each new kind; that takes half a minute on a
# busy machine.
apply_manifests() { run_kubectl apply --validate=ignore "$@"; }
create_objects() { run_kubectl create --validate=ignore "$@"; }

# create_objects_from COMMAND...: creates what the command prints. An API server without CPU gives
# up requests after half a minute, so this applies everything once more after a failure.
create_objects_from() {
  local objects
  objects=$("$@") || return
  create_objects --filename - <<<"$objects" ||
    run_kubectl apply --server-side --force-conflicts --validate=ignore --filename - <<<"$objects"
}

# await_kind CRD: waits until the API server serves the kind. kubectl's own wait fails while the API
# server has not processed the kind yet.
await_kind() { wait_until 240 "the kind $1" run_kubectl wait --for condition=Established --timeout 5s "crd/$1"; }
