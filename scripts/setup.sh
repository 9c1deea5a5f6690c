#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/setup.sh [--no-cluster | --demo] [--cross] [--release] [--operators]

Installs what building and testing Synergy needs: Debian packages, the programs of the test cluster (Kubernetes, containerd,
runc, kwok, Helm, Kueue, JobSet and Kubeflow Trainer), which it builds from Go modules, and the system of the cluster's v2
nodes. Everything except the packages is in ${XDG_CACHE_HOME:-~/.cache}/synergy.
You can run it again at any time: it adds only what is missing. The first build of the programs takes 8 to 18 minutes on two
cores; the system of v2 nodes takes 2 more, and the time of its downloads.

  --no-cluster   only what the build, its images (scripts/images.sh) and the unit tests need
  --demo         only what the build and scripts/demo.sh need: no Helm, Kueue, JobSet, Trainer, system of v2 nodes
  --cross        also what builds and runs programs for the other architecture, of amd64 and arm64 (scripts/cross.sh)
  --release      also what makes a release (scripts/release.sh): Helm, crane, syft and cosign, about 12 minutes on two cores
  --operators    also the operators of jobs that the long tier of tests runs: KubeRay, MPI operator and LeaderWorkerSet
  -h, --help     this text

  SYNERGY_KUBE_BIN=FOLDER         use these Kubernetes programs instead of building them
  SYNERGY_CONTAINERD_BIN=FOLDER   use this folder's containerd, containerd-shim-runc-v2, ctr and runc instead of building them
  SYNERGY_KWOK_BIN=FOLDER         use this folder's kwok instead of building it
  SYNERGY_HELM_BIN=FOLDER         use this folder's helm instead of building it
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/output.sh
source "$here/lib/output.sh"
# shellcheck source=lib/programs.sh
source "$here/lib/programs.sh"
# shellcheck source=lib/packages.sh
source "$here/lib/packages.sh"
# shellcheck source=lib/image.sh
source "$here/lib/image.sh"
# shellcheck source=lib/architecture.sh
source "$here/lib/architecture.sh"
# shellcheck source=lib/build.sh
source "$here/lib/build.sh"
# shellcheck source=lib/v2-image.sh
source "$here/lib/v2-image.sh"

with_cluster=1 with_all=1 with_release=0 with_operators=0 more=()
for argument in "$@"; do
  case $argument in
    --no-cluster) with_cluster=0 ;;
    --demo) with_all=0 ;;
    --cross) mapfile -t -O "${#more[@]}" more < <(cross_packages) ;;
    --release) with_release=1 && more+=("${RELEASE_PACKAGES[@]}") ;;
    --operators) with_operators=1 && more+=("${OPERATOR_PACKAGES[@]}") ;;
    -h | --help) usage && exit 0 ;;
    *) die "unknown option $argument (--help lists them)" ;;
  esac
done

if ((with_cluster)); then
  install_packages "${BUILD_PACKAGES[@]}" "${CLUSTER_PACKAGES[@]}" "${more[@]}"
  if ((with_all)); then
    # This is mostly downloads, which leave the cores to the builds.
    set_up_v2_node &
    v2_node=$!
  fi
  set_up_kubernetes
  set_up_containerd
  set_up_kwok
  if ((with_all)); then
    set_up_helm
    set_up_kueue
    set_up_training_operators
    wait "$v2_node"
  fi
  say "ready: scripts/cluster.sh up starts a test cluster"
else
  install_packages "${BUILD_PACKAGES[@]}" "${more[@]}"
  say "ready to build (the test cluster was left out)"
fi
if ((with_operators)); then set_up_job_operators; fi
if ((with_release)); then set_up_release_tools; fi
