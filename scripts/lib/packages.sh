# shellcheck shell=bash
# shellcheck disable=SC2034 # the lists are read by the scripts that source this
# Debian packages, and their installation without starting the services that they contain.

LIBRARY_PACKAGES=(
  libcpp-httplib-dev libssl-dev zlib1g-dev libbrotli-dev rapidjson-dev libyaml-cpp-dev prometheus-cpp-dev
  libexpected-dev libfmt-dev libcli11-dev libabsl-dev libre2-dev coinor-libcbc-dev coinor-libclp-dev
  libgrpc++-dev libprotobuf-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
)
BUILD_PACKAGES=(
  g++ cmake ninja-build ccache gnuplot-nox
  protobuf-compiler protobuf-compiler-grpc
  "${LIBRARY_PACKAGES[@]}"
  clang-19 clang-format-19 clang-tidy-19 shellcheck
  prometheus # for promtool, which checks our metrics
  lua5.1 # runs the health checks for Argo CD, as Argo CD does
  jq openssl curl ca-certificates python3 python3-yaml
  chromium chromium-driver # for the page's tests
  buildah runc debootstrap # build images without a registry; their RUN lines need a runtime
)
CLUSTER_PACKAGES=(
  etcd-server etcd-client containernetworking-plugins
  libseccomp-dev # for runc
  iptables iproute2 conntrack busybox-static procps
  qemu-system-x86 qemu-utils e2fsprogs cpio openssh-client # for v2 nodes
)
RELEASE_PACKAGES=(
  docker-registry # for the registry of a dry run
  gh # makes the release on GitHub
  # unpacks the sources of the libraries that scripts/static.sh compiles; also in cross_packages
  dpkg-dev
)
OPERATOR_PACKAGES=(
  python3-pip # fetches Ray for the image of tests/cluster/queueing/jobs
)
# Packages that would start a daemon on the machine that nothing here needs.
SERVICES=(etcd prometheus prometheus-node-exporter docker-registry)

POLICY=/usr/sbin/policy-rc.d

# Prints the packages for scripts/cross.sh and for images of the other architecture.
cross_packages() {
  local machine
  machine=$(machine_of "$(other_architecture)")
  printf '%s\n' "g++-${machine/_/-}-linux-gnu" qemu-user-static dpkg-dev
}

# missing_packages NAME...: prints those of the packages that are not installed.
missing_packages() {
  comm -13 \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort -u) \
    <(printf '%s\n' "$@" | sort -u)
}

install_packages() {
  local missing
  command -v apt-get dpkg-query >/dev/null ||
    die "apt-get is missing: the packages are Debian 12's; elsewhere, install their equivalents by hand: $*"
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then
    say "packages: all $# are installed"
    return
  fi
  ((EUID == 0)) || die "not root: run sudo scripts/setup.sh to install ${missing[*]}"
  say "packages: installing ${missing[*]}"
  (
    forbid_service_starts
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install --yes --no-install-recommends "${missing[@]}" >/dev/null
  ) || die "apt-get failed: its message is above"
  forget_services "${missing[@]}"
}

# Maintainer scripts ask policy-rc.d before they start a service. If one exists already, it belongs
# to the administrator.
forbid_service_starts() {
  [[ -e $POLICY ]] && return
  trap 'rm -f "$POLICY"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$POLICY"
  chmod +x "$POLICY"
}

# Disables the services; otherwise systemd would start them at the next boot. A service whose
# package was already installed is unchanged.
forget_services() {
  local service
  [[ -d /run/systemd/system ]] || return 0
  for service in "${SERVICES[@]}"; do
    if printf '%s\n' "$@" | grep -x -e "$service" -e "$service-server" >/dev/null; then
      systemctl disable --quiet "$service" || warn "could not disable the service $service"
    fi
  done
}
