# shellcheck shell=bash
# Runs JobSet and Kubeflow Trainer, which creates JobSets, as components of the cluster. Installs
# their certificate, and the kinds, rights and webhooks of their charts. The operators read
# certificates from a folder of temporary files.

has_training_operators() { [[ -n $OPERATORS ]]; }

start_jobset() { start_operator jobset "$(jobset_folder)/jobset"; }
start_trainer() { start_operator trainer "$(trainer_folder)/trainer-controller-manager"; }

jobset_is_ready() { curl --silent --fail --max-time 2 "http://127.0.0.1:$JOBSET_HEALTH_PORT/readyz"; }
trainer_is_ready() { curl --silent --fail --max-time 2 "http://127.0.0.1:$TRAINER_HEALTH_PORT/readyz"; }

# start_operator NAME PROGRAM: starts an operator with its files.
start_operator() {
  spawn "$1" env KUBECONFIG="$STATE/$1.kubeconfig" TMPDIR="$STATE/$1" "$2" --config "$STATE/$1/config.yaml"
}

# Installs everything except the processes; runs once for each cluster.
install_training_operators() {
  prepare_operator jobset kubeflow-system:jobset-controller "$JOBSET_PORT" "$JOBSET_HEALTH_PORT"
  prepare_operator trainer kubeflow-system:trainer-controller-manager "$TRAINER_PORT" "$TRAINER_HEALTH_PORT"
  {
    run_kubectl create namespace kubeflow-system &&
      create_objects_from training_operators_manifests &&
      await_kind jobsets.jobset.x-k8s.io &&
      await_kind trainjobs.trainer.kubeflow.org
  } >>"$STATE/logs/training-operators-manifests.log" 2>&1 ||
    die "manifests of JobSet and Trainer: $(<"$STATE/logs/training-operators-manifests.log")"
}

# prepare_operator NAME NAMESPACE:SERVICE_ACCOUNT PORT HEALTH_PORT: prepares the operator's files.
# The chart gives the rights to that account.
prepare_operator() {
  local home=$STATE/$1 certificates=$STATE/$1/k8s-webhook-server/serving-certs
  mkdir -p "$certificates"
  make_user "$1" "/CN=system:serviceaccount:$2"
  make_certificate "$1-webhook" "/CN=$1" IP:127.0.0.1
  cp "$STATE/pki/$1-webhook.crt" "$certificates/tls.crt"
  cp "$STATE/pki/$1-webhook.key" "$certificates/tls.key"
  sed -e "s|@HEALTH_PORT@|$4|" -e "s|@WEBHOOK_PORT@|$3|" -e "s|@CERTIFICATES@|$certificates|" \
    "$REPOSITORY/tests/cluster/queueing/kueue/$1.yaml" >"$home/config.yaml"
}

# JobSet's chart is a part of Trainer's, which expects it in a folder of its own. No image runs, but
# the chart requires a tag. With the full name, the account would be too long for a certificate.
training_operators_manifests() {
  local chart=$STATE/trainer/chart
  cp --recursive "$(trainer_folder)/chart" "$chart"
  mkdir "$chart/charts"
  cp --recursive "$(jobset_folder)/chart" "$chart/charts/jobset"
  # Helm does not render a chart that lacks one of its parts. This part is for Trainer's data cache,
  # which is off.
  sed --in-place '/^- name: lws$/,/^  condition:/d' "$chart/Chart.yaml"
  "$(helm_folder)/helm" template kubeflow-trainer "$chart" --namespace kubeflow-system --include-crds --set image.tag=none \
    --set fullnameOverride=trainer |
    objects_for_processes "{\"jobset\": $JOBSET_PORT, \"trainer\": $TRAINER_PORT}"
}

# Creates the runtimes that TrainJobs name. Trainer's webhook checks them, so they come last.
make_runtimes() {
  local folder
  folder=$(trainer_folder)/runtimes
  create_objects --filename "$folder/torch_distributed.yaml" --filename "$folder/deepspeed_distributed.yaml" \
    >>"$STATE/logs/training-operators-manifests.log" 2>&1 ||
    die "Trainer's runtimes: $(<"$STATE/logs/training-operators-manifests.log")"
}
