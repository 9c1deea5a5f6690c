# shellcheck shell=bash
# Runs KubeRay, MPI operator and LeaderWorkerSet as components of the cluster: the kinds, rights and
# webhooks of their modules, and their processes.

has_job_operators() { [[ -n $JOB_OPERATORS ]]; }

start_kuberay() {
  spawn kuberay env KUBECONFIG="$STATE/kuberay.kubeconfig" "$(kuberay_folder)/ray-operator" --enable-leader-election=false --use-kubernetes-proxy \
    --metrics-addr 0 --health-probe-bind-address "127.0.0.1:$KUBERAY_HEALTH_PORT"
}

# No option changes the port of its health check.
start_mpi_operator() {
  spawn mpi-operator env KUBECONFIG="$STATE/mpi-operator.kubeconfig" "$(mpi_operator_folder)/mpi-operator" \
    --kube-api-qps 50 --kube-api-burst 100
}

start_lws() { start_operator lws "$(lws_folder)/cmd"; }

kuberay_is_ready() { curl --silent --fail --max-time 2 "http://127.0.0.1:$KUBERAY_HEALTH_PORT/readyz"; }
mpi_operator_is_ready() { curl --silent --fail --max-time 2 http://127.0.0.1:8080/healthz; }
lws_is_ready() { curl --silent --fail --max-time 2 "http://127.0.0.1:$LWS_HEALTH_PORT/readyz"; }

# Installs everything except the processes; runs once for each cluster.
install_job_operators() {
  local log=$STATE/logs/job-operators-manifests.log
  make_user kuberay /CN=kuberay
  make_user mpi-operator /CN=system:serviceaccount:mpi-operator:mpi-operator
  prepare_operator lws lws-system:lws-controller-manager "$LWS_PORT" "$LWS_HEALTH_PORT"
  {
    run_kubectl create namespace mpi-operator &&
      run_kubectl create namespace lws-system &&
      create_objects --filename "$(kuberay_folder)/config/crd/bases" --filename "$(kuberay_folder)/config/rbac/role.yaml" &&
      run_kubectl create clusterrolebinding kuberay --clusterrole kuberay-operator --user kuberay &&
      objects_for_processes '{}' <"$(mpi_operator_folder)/deploy/v2beta1/mpi-operator.yaml" | create_objects --filename - &&
      "$(helm_folder)/helm" template lws "$(lws_folder)/chart" --namespace lws-system --include-crds |
      objects_for_processes "{\"lws\": $LWS_PORT}" | create_objects --filename - &&
      await_kind rayjobs.ray.io &&
      await_kind mpijobs.kubeflow.org &&
      await_kind leaderworkersets.leaderworkerset.x-k8s.io
  } >>"$log" 2>&1 || die "manifests of KubeRay, MPI operator and LeaderWorkerSet: $(<"$log")"
}
