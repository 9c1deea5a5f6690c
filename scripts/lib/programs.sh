# shellcheck shell=bash
# The versions and folders of the test cluster's programs: Kubernetes, containerd, runc, kwok, Helm,
# Kueue, and the operators of jobs.

REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/synergy
# shellcheck disable=SC2034 # read by the scripts that source this
KUBE_PROGRAMS=(kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl)
# shellcheck disable=SC2034
CONTAINERD_PROGRAMS=(containerd containerd-shim-runc-v2 ctr runc)

# module_version FOLDER MODULE: prints the version that the Go module in FOLDER requires.
module_version() {
  command -v go >/dev/null || die "go is missing: scripts/setup.sh names the version that is needed"
  (cd "$1" && go list -m -f '{{.Version}}' "$2")
}

# With SYNERGY_KUBERNETES=1.35, the programs of that older version are used.
kubernetes_module() { printf '%s\n' "$REPOSITORY/tests${SYNERGY_KUBERNETES:+/versions/$SYNERGY_KUBERNETES}"; }

kubernetes_version() { module_version "$(kubernetes_module)" k8s.io/kubernetes; }
# Prints both versions, because the folder contains both programs.
containerd_version() {
  local containerd runc
  containerd=$(module_version "$REPOSITORY/tests/cluster/support/containerd" github.com/containerd/containerd/v2) &&
    runc=$(module_version "$REPOSITORY/tests/cluster/support/containerd" github.com/opencontainers/runc) &&
    printf '%s-runc-%s\n' "$containerd" "$runc"
}
helm_version() { module_version "$REPOSITORY/tests/helm" helm.sh/helm/v3; }
kwok_version() { module_version "$REPOSITORY/tests/cluster/support/kwok" sigs.k8s.io/kwok; }
kueue_version() { module_version "$REPOSITORY/tests/cluster/queueing/kueue" sigs.k8s.io/kueue; }
jobset_version() { module_version "$REPOSITORY/tests/cluster/queueing/kueue" sigs.k8s.io/jobset; }
# The programs of a release and the check of workflows are in one module; its go.mod has their
# versions.
cosign_version() { module_version "$REPOSITORY/scripts/release/tools" github.com/sigstore/cosign/v3; }
syft_version() { module_version "$REPOSITORY/scripts/release/tools" github.com/anchore/syft; }
crane_version() { module_version "$REPOSITORY/scripts/release/tools" github.com/google/go-containerregistry; }
actionlint_version() { module_version "$REPOSITORY/scripts/release/tools" github.com/rhysd/actionlint; }
mpi_operator_version() { module_version "$REPOSITORY/tests/cluster/queueing/kueue" github.com/kubeflow/mpi-operator; }
lws_version() { module_version "$REPOSITORY/tests/cluster/queueing/kueue" sigs.k8s.io/lws; }
kuberay_version() { module_version "$REPOSITORY/tests/cluster/queueing/kuberay" github.com/ray-project/kuberay/ray-operator; }
trainer_version() { module_version "$REPOSITORY/tests/cluster/queueing/kueue" github.com/kubeflow/trainer/v2; }

# SYNERGY_KUBE_BIN, SYNERGY_CONTAINERD_BIN, SYNERGY_KWOK_BIN and SYNERGY_HELM_BIN name folders with
# programs that the user has built or downloaded.
kube_folder() { program_folder "${SYNERGY_KUBE_BIN-}" kubernetes; }
containerd_folder() { program_folder "${SYNERGY_CONTAINERD_BIN-}" containerd; }
kwok_folder() { program_folder "${SYNERGY_KWOK_BIN-}" kwok; }
helm_folder() { program_folder "${SYNERGY_HELM_BIN-}" helm; }
kueue_folder() { program_folder "" kueue; }
jobset_folder() { program_folder "" jobset; }
trainer_folder() { program_folder "" trainer; }
mpi_operator_folder() { program_folder "" mpi_operator; }
lws_folder() { program_folder "" lws; }
kuberay_folder() { program_folder "" kuberay; }
cosign_folder() { program_folder "" cosign; }
syft_folder() { program_folder "" syft; }
crane_folder() { program_folder "" crane; }
actionlint_folder() { program_folder "" actionlint; }

program_folder() {
  local version
  if [[ -n $1 ]]; then
    realpath -- "$1"
  else
    version=$("$2_version") || return
    printf '%s\n' "$CACHE/$2-$version"
  fi
}

# missing_programs FOLDER NAME...: prints the names that are not programs in FOLDER.
missing_programs() {
  local folder=$1 name
  shift
  for name in "$@"; do
    [[ -x $folder/$name && -f $folder/$name ]] || printf '%s\n' "$name"
  done
}
