# shellcheck shell=bash
# synergy-controller as a component of the cluster: its certificate, the kinds and webhooks that it needs, and its process.

has_controller() { [[ -n $CONTROLLER ]]; }

start_synergy_controller() {
  spawn synergy-controller "$CONTROLLER/synergy-controller" --kubeconfig "$STATE/synergy-controller.kubeconfig" \
    --config "$STATE/synergy-controller.yaml"
}

controller_is_ready() { curl --silent --fail --max-time 2 "http://127.0.0.1:$CONTROLLER_PORT/readyz"; }

# Installs everything except the process; runs once for each cluster.
install_controller() {
  make_user synergy-controller /CN=synergy-controller
  make_certificate webhook /CN=synergy-controller DNS:localhost,IP:127.0.0.1
  cat >"$STATE/synergy-controller.yaml" <<E_O_F
listen: 127.0.0.1:$WEBHOOK_PORT
httpListen: 127.0.0.1:$CONTROLLER_PORT
tls: {certificateFile: $STATE/pki/webhook.crt, keyFile: $STATE/pki/webhook.key}
# Rounds are as short as tests need them.
tuner: {round: 10s, patience: 20s}
log: {level: debug}
E_O_F
  if has_kueue; then
    printf 'kueue: {enabled: true, elastic: true, trainJobProgress: %s}\n' "$(train_job_progress)" >>"$STATE/synergy-controller.yaml"
  fi
  if has_agents; then
    agent_settings >>"$STATE/synergy-controller.yaml"
    printf 'failures: {retries: true, prerun: %s}\n' "$(if has_kueue; then echo true; else echo false; fi)" \
      >>"$STATE/synergy-controller.yaml"
  fi
  # Most tests do not test opting in, and need round numbers.
  [[ -n $SHIPPED ]] ||
    printf 'scope: all\nnodeHeadroom: {cpu: 0, memory: 0}\ngangPreemption: {enabled: false}\n' >>"$STATE/synergy-controller.yaml"
  apply_controller_manifests >>"$STATE/logs/controller-manifests.log" 2>&1 ||
    die "manifests of synergy-controller: $(<"$STATE/logs/controller-manifests.log")"
}

# Any failure ends the function, even if the caller tests its status.
apply_controller_manifests() {
  apply_manifests --filename "$REPOSITORY/manifests/crds" &&
    await_kind trainingprofiles.synergy.io &&
    run_kubectl create namespace synergy-system --dry-run=client --output yaml | apply_manifests --filename - &&
    apply_manifests --filename "$REPOSITORY/manifests/controller-rbac.yaml" &&
    run_kubectl create clusterrolebinding synergy-controller-user --clusterrole synergy-controller --user synergy-controller &&
    run_kubectl create rolebinding synergy-controller-user --namespace synergy-system --role synergy-controller \
      --user synergy-controller &&
    apply_manifests --filename "$REPOSITORY/manifests/profile-rbac.yaml" &&
    { ! has_kueue || await_kind roundpolicies.synergy.io; } &&
    apply_additions &&
    webhook_configurations | apply_manifests --filename - &&
    admission_policies | apply_manifests --filename - &&
    wait_until 60 "the admission policies" admission_policies_are_in_force
}

train_job_progress() { if has_training_operators; then echo true; else echo false; fi; }

# Applies the chart's additions for autoscalers, storage and Kueue, and for retries and pre-runs,
# which follow failures that node agents report.
apply_additions() {
  local settings=(--set controller.config.reservations.enabled=true --set controller.config.reservations.autoscaler=true
    --set controller.config.tuner.storage=true --show-only templates/extender-rbac.yaml
    --show-only templates/reservations-rbac.yaml --show-only templates/reservations-policy.yaml)
  local roles=(synergy-reservations) role
  if has_kueue; then
    settings+=(--set kueue.enabled=true --set kueue.elastic=true --set kueue.trainJobProgress="$(train_job_progress)"
      --show-only templates/rounds-rbac.yaml --show-only templates/elastic-policy.yaml)
    roles+=(synergy-rounds)
  fi
  if has_agents; then
    settings+=(--set controller.config.failures.retries=true
      --show-only templates/retries-rbac.yaml --show-only templates/retries-policy.yaml)
    roles+=(synergy-retries)
  fi
  if has_agents && has_kueue; then
    settings+=(--set controller.config.failures.prerun=true
      --show-only templates/prerun-rbac.yaml --show-only templates/prerun-policy.yaml)
    roles+=(synergy-prerun)
  fi
  "$(helm_folder)/helm" template synergy "$REPOSITORY/charts/synergy" --namespace synergy-system \
    --set image.registry=registry.invalid "${settings[@]}" | as_users | apply_manifests --filename - || return
  for role in "${roles[@]}"; do
    run_kubectl create clusterrolebinding "$role-user" --clusterrole "$role" --user synergy-controller || return
  done
  run_kubectl create rolebinding synergy-extender-user --namespace synergy-system --role synergy-extender --user synergy-extender
}

# Prints the shipped webhook configurations, with the controller's address instead of its Service,
# because it runs outside the cluster. Without --shipped-settings, it reviews every training pod, as
# with the chart's `scope: all`. The API server also waits longer for its answer, because on a busy
# machine some pods would otherwise be created as written.
webhook_configurations() {
  /usr/bin/python3 -c 'import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)' \
    "$REPOSITORY/manifests/webhook.yaml" |
    jq --arg url "https://127.0.0.1:$WEBHOOK_PORT" --arg authority "$(base64 -w 0 "$STATE/pki/ca.crt")" --arg shipped "$SHIPPED" '
      def all: map(select(.name != "namespaces.pods.synergy.io")) | map(
        if .name != "pods.synergy.io" then . else
          .matchConditions |= map(select(.name != "asks-for-it")) |
          .namespaceSelector.matchExpressions |= map(select(.key != "synergy.io/managed"))
        end | .timeoutSeconds = 20);
      {apiVersion: "v1", kind: "List", items: map(select(.webhooks) | .webhooks |= (if $shipped == "" then all else . end | map(
        .clientConfig |= {url: ($url + .service.path), caBundle: $authority})))}'
}

# Prints the shipped policies.
admission_policies() { as_users <"$REPOSITORY/manifests/admission-policies.yaml"; }

# Succeeds if the admission policies are in force. A policy comes into force a moment after it is
# applied, and no status reports when. So this tests whether a forbidden write is refused.
admission_policies_are_in_force() {
  local answer forged='{apiVersion: v1, kind: Pod, metadata: {name: forged, annotations: {synergy.io/hold: ""}},
    spec: {containers: [{name: c, image: c}]}}'
  ! answer=$(run_kubectl create --namespace default --dry-run=server --field-manager synergy --filename - <<<"$forged" 2>&1) &&
    [[ $answer == *'reserved for Synergy'* ]]
}

# Adapts admission policies: programs outside the cluster act as users, not as service accounts; so
# do kwok and the agents of real nodes.
as_users() {
  sed --expression 's/system:serviceaccount:synergy-system:synergy-controller/synergy-controller/' \
    --expression 's/system:serviceaccount:synergy-system:synergy-scheduler/synergy-extender/' \
    --expression "s/[?]username.orValue('') != '\(system:serviceaccount:synergy-system:synergy-node-agent\)'/?username.orValue('') in ['\1', 'kwok', 'synergy-node-agent'] == false/"
}
