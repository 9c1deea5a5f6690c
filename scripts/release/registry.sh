#!/usr/bin/env bash
set -euo pipefail

# usage: scripts/release/registry.sh FOLDER HOST:PORT
#
# Serves the registry of a dry run over HTTP from its data in FOLDER, until this script is ended.
# The log is FOLDER.log.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/output.sh
source "$here/lib/output.sh"

(($# == 2)) || die "registry.sh takes a folder and HOST:PORT"
command -v docker-registry >/dev/null || die "docker-registry is missing: run scripts/setup.sh --no-cluster --release"
mkdir -p "$1"
# The registry reads its configuration from a file, which is beside its data in the folder.
cat >"$1/config.yml" <<YAML
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage:
  filesystem: {rootdirectory: "$(realpath -- "$1")"}
  delete: {enabled: true}
http: {addr: "$2"}
YAML
exec docker-registry serve "$1/config.yml" >"$1.log" 2>&1
