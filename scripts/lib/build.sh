# shellcheck shell=bash
# Builds the test cluster's programs from their Go modules into the cache folder.

set_up_kubernetes() {
  local module version major minor
  if [[ -n ${SYNERGY_KUBE_BIN-} ]]; then
    check_users_programs SYNERGY_KUBE_BIN "${KUBE_PROGRAMS[@]}"
    return
  fi
  module=$(kubernetes_module)
  check_go "$module/go.mod"
  version=$(kubernetes_version)
  IFS=. read -r major minor _ <<<"${version#v}"
  build_programs "Kubernetes $version" "8 minutes" "$(kube_folder)" "$module" k8s.io/kubernetes/cmd \
    "-X k8s.io/component-base/version.gitVersion=$version \
     -X k8s.io/component-base/version.gitMajor=$major -X k8s.io/component-base/version.gitMinor=$minor" \
    "${KUBE_PROGRAMS[@]}"
}

# The programs are static, because v2 nodes run them, too. Each pod has a shim, which is smaller
# without gRPC.
set_up_containerd() {
  local module=$REPOSITORY/tests/cluster/support/containerd prefix=github.com/containerd/containerd/v2 version folder
  if [[ -n ${SYNERGY_CONTAINERD_BIN-} ]]; then
    check_users_programs SYNERGY_CONTAINERD_BIN "${CONTAINERD_PROGRAMS[@]}"
    return
  fi
  check_go "$module/go.mod"
  version=$(module_version "$module" $prefix)
  folder=$(containerd_folder)
  CGO_ENABLED=0 build_programs "containerd $version" "2 minutes" "$folder" "$module" $prefix/cmd \
    "-X $prefix/version.Version=$version" containerd ctr
  CGO_ENABLED=0 GO_TAGS=no_grpc build_programs "containerd's shim" "1 minute" "$folder" "$module" $prefix/cmd \
    "-X $prefix/version.Version=$version" containerd-shim-runc-v2
  GO_TAGS=seccomp,netgo,osusergo build_programs "runc $(module_version "$module" github.com/opencontainers/runc)" "1 minute" \
    "$folder" "$module" github.com/opencontainers "-extldflags -static" runc
}

set_up_kwok() {
  local version
  if [[ -n ${SYNERGY_KWOK_BIN-} ]]; then
    check_users_programs SYNERGY_KWOK_BIN kwok
    return
  fi
  check_go "$REPOSITORY/tests/cluster/support/kwok/go.mod"
  version=$(kwok_version)
  build_programs "kwok $version" "2 minutes" "$(kwok_folder)" "$REPOSITORY/tests/cluster/support/kwok" sigs.k8s.io/kwok/cmd \
    "-X sigs.k8s.io/kwok/pkg/consts.Version=${version#v}" kwok
}

set_up_helm() {
  local version minor
  if [[ -n ${SYNERGY_HELM_BIN-} ]]; then
    check_users_programs SYNERGY_HELM_BIN helm
    return
  fi
  check_go "$REPOSITORY/tests/helm/go.mod"
  version=$(helm_version)
  # The version of Kubernetes that Helm assumes if it cannot ask a cluster (helm template, helm
  # lint).
  IFS=. read -r _ minor _ <<<"$(kubernetes_version)"
  build_programs "Helm $version" "3 minutes" "$(helm_folder)" "$REPOSITORY/tests/helm" helm.sh/helm/v3/cmd \
    "-X helm.sh/helm/v3/internal/version.version=$version \
     -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$minor \
     -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=$minor" helm
}

# Builds Kueue and copies its chart beside it, from which scripts/cluster.sh takes kinds, rights and
# webhooks.
set_up_kueue() {
  local module=$REPOSITORY/tests/cluster/queueing/kueue version folder
  check_go "$module/go.mod"
  version=$(kueue_version)
  folder=$(kueue_folder)
  mkdir -p "$folder"
  # If two set-ups run at the same time, the second one finds the copy.
  (flock 8 && copy_from_module "$module" sigs.k8s.io/kueue charts/kueue "$folder/chart") 8>"$CACHE/build.lock"
  build_programs "Kueue $version" "4 minutes" "$folder" "$module" sigs.k8s.io/kueue/cmd \
    "-X sigs.k8s.io/kueue/pkg/version.GitVersion=$version" kueue
}

# Builds JobSet and Kubeflow Trainer. Copies Trainer's chart, which contains JobSet's, and Trainer's
# runtimes. This comes after Kueue, with which these programs share most of what is compiled.
set_up_training_operators() {
  local module=$REPOSITORY/tests/cluster/queueing/kueue jobset trainer
  jobset=$(jobset_folder)
  trainer=$(trainer_folder)
  mkdir -p "$jobset" "$trainer"
  (
    flock 8
    copy_from_module "$module" sigs.k8s.io/jobset charts/jobset "$jobset/chart" &&
      copy_from_module "$module" github.com/kubeflow/trainer/v2 charts/kubeflow-trainer "$trainer/chart" &&
      copy_from_module "$module" github.com/kubeflow/trainer/v2 manifests/base/runtimes "$trainer/runtimes"
  ) 8>"$CACHE/build.lock"
  build_programs "JobSet $(jobset_version)" "1 minute" "$jobset" "$module" sigs.k8s.io \
    "-X sigs.k8s.io/jobset/pkg/version.GitVersion=$(jobset_version)" jobset
  build_programs "Kubeflow Trainer $(trainer_version)" "1 minute" "$trainer" "$module" github.com/kubeflow/trainer/v2/cmd \
    "" trainer-controller-manager
}

# Builds the operators of the long tier, copies what they install, and makes their jobs' image. MPI
# operator and LeaderWorkerSet come after Kueue, with which they share most of what is compiled.
set_up_job_operators() {
  local module=$REPOSITORY/tests/cluster/queueing/kueue kuberay_module=$REPOSITORY/tests/cluster/queueing/kuberay kuberay mpi lws
  kuberay=$(kuberay_folder)
  mpi=$(mpi_operator_folder)
  lws=$(lws_folder)
  mkdir -p "$kuberay" "$mpi" "$lws"
  (
    flock 8
    copy_from_module "$kuberay_module" github.com/ray-project/kuberay/ray-operator config "$kuberay/config" &&
      copy_from_module "$module" github.com/kubeflow/mpi-operator deploy "$mpi/deploy" &&
      copy_from_module "$module" sigs.k8s.io/lws charts/lws "$lws/chart"
  ) 8>"$CACHE/build.lock"
  build_programs "MPI operator $(mpi_operator_version)" "1 minute" "$mpi" "$module" github.com/kubeflow/mpi-operator/cmd "" mpi-operator
  build_programs "LeaderWorkerSet $(lws_version)" "1 minute" "$lws" "$module" sigs.k8s.io/lws "" cmd
  build_programs "KubeRay $(kuberay_version)" "4 minutes" "$kuberay" "$kuberay_module" github.com/ray-project/kuberay "" ray-operator
  say "image of Ray and Open MPI: $("$REPOSITORY/tests/cluster/queueing/jobs/image.sh")"
}

# set_up_release_tool NAME TIME PACKAGE_PREFIX: builds one of the programs of a release.
set_up_release_tool() {
  local module=$REPOSITORY/scripts/release/tools version folder
  check_go "$module/go.mod"
  version=$("$1_version")
  folder=$("$1_folder")
  CGO_ENABLED=0 build_programs "$1 $version" "$2" "$folder" "$module" "$3" "" "$1"
}

set_up_actionlint() { set_up_release_tool actionlint "20 seconds" github.com/rhysd/actionlint/cmd; }

# No other program here uses most of what Syft and cosign compile.
set_up_release_tools() {
  set_up_helm
  set_up_actionlint
  set_up_release_tool crane "20 seconds" github.com/google/go-containerregistry/cmd
  set_up_release_tool syft "5 minutes" github.com/anchore/syft/cmd
  set_up_release_tool cosign "5 minutes" github.com/sigstore/cosign/v3/cmd
}

# copy_from_module MODULE_FOLDER MODULE PATH FOLDER: copies PATH, a folder of a Go module, to
# FOLDER.
copy_from_module() {
  local source
  [[ ! -d $4 ]] || return 0
  source=$(cd "$1" && go mod download "$2" && go list -m -f '{{.Dir}}' "$2") || return
  rm -rf "$4.unfinished"
  cp --recursive --no-preserve=mode "$source/$3" "$4.unfinished" && mv "$4.unfinished" "$4"
}

# check_users_programs VARIABLE NAME...: prints the versions of the programs in the folder that
# VARIABLE names; fails if one is missing.
check_users_programs() {
  local variable=$1 folder=${!1} name missing
  shift
  mapfile -t missing < <(missing_programs "$folder" "$@")
  ((${#missing[@]} == 0)) || die "$variable=$folder does not hold ${missing[*]}"
  for name in "$@"; do
    if [[ $name == kubectl ]]; then
      say "$folder/$name: $("$folder/$name" version --client | head -1)"
    elif [[ $name == containerd-shim-runc-v2 ]]; then
      say "$folder/$name: $("$folder/$name" -v | sed -n 's/^ *Version: *//p')"
    elif [[ $name == helm ]]; then
      say "$folder/$name: $("$folder/$name" version --short)"
    else
      say "$folder/$name: $("$folder/$name" --version 2>&1 | head -1)"
    fi
  done
}

# build_programs TITLE TIME FOLDER MODULE_FOLDER PACKAGE_PREFIX LINKER_FLAGS NAME...
#
# Builds all missing programs at once, because linkers use one thread each and can run beside
# compilers.
build_programs() {
  local title=$1 time=$2 folder=$3 module=$4 prefix=$5 flags=$6 missing name started=$SECONDS
  shift 6
  mapfile -t missing < <(missing_programs "$folder" "$@")
  if ((${#missing[@]} == 0)); then
    say "$title: $folder"
    return
  fi
  mkdir -p "$folder"
  exec 8>"$CACHE/build.lock"
  flock --nonblock 8 || { say "another set-up is building; waiting for it"; flock 8; }
  mapfile -t missing < <(missing_programs "$folder" "$@")
  if ((${#missing[@]})); then
    say "$title: building into $folder (all of it for the first time: about $time on two cores)"
    mkdir -p "$folder/unfinished"
    go_build "$module" "$flags" "$folder/unfinished/" "${missing[@]/#/$prefix/}" ||
      die "building $title failed: Go's message is above"
    # Programs get their names only when they are finished, so an interrupted build is repeated.
    for name in "${missing[@]}"; do mv "$folder/unfinished/$name" "$folder/"; done
    rmdir "$folder/unfinished"
    say "  $((SECONDS - started)) s"
  fi
  exec 8>&-
}

# go_build MODULE_FOLDER LINKER_FLAGS FOLDER PACKAGE...: builds packages with the tags in GO_TAGS.
#
# Builds without debug information, which these programs do not need, and with rare garbage
# collection, for which the machine has the memory. Together, this saves a seventh of the compilers'
# time.
go_build() (
  flags=(-trimpath -gcflags all=-dwarf=false -tags "${GO_TAGS-}")
  cd "$1" && stale=$(go list "${flags[@]}" -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "${@:4}" 2>/dev/null) || return
  GOGC=400 nice -n 5 go build -v "${flags[@]}" -ldflags "-s -w $2" -o "$3" "${@:4}" 2>&1 |
    show_packages "$(grep -c . <<<"$stale")"
)

# show_packages TOTAL: prints the progress of `go build -v`, the time that is left, and errors.
show_packages() {
  local total=$1 line compiled=0 told=0 started=$SECONDS left
  while IFS= read -r line; do
    case $line in
      "go: downloading "*) continue ;;
      "" | "#"* | *[[:space:]]*) printf '%s\n' "$line" >&2 && continue ;;
    esac
    compiled=$((compiled + 1))
    if ((100 * compiled >= total * (told + 10))); then
      told=$((100 * compiled / total))
      left=$(((SECONDS - started) * (total - compiled) / compiled))
      say "  $told % of $total packages after $((SECONDS - started)) s, about $left s to go"
    fi
  done
}

check_go() {
  local needed found
  needed=$(awk '$1 == "go" { print $2 }' "$1")
  command -v go >/dev/null ||
    die "go is missing: install Go $needed or newer from https://go.dev/dl/ and put its bin folder on PATH"
  found=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
  found=${found#go}
  [[ $(printf '%s\n' "$needed" "${found%% *}" | sort -V | head -1) == "$needed" ]] ||
    die "go $found is too old: install Go $needed or newer from https://go.dev/dl/ and put its bin folder first on PATH"
}
