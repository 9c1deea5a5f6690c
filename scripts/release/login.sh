#!/usr/bin/env bash
set -euo pipefail

# usage: scripts/release/login.sh HOST USER <PASSWORD
#
# Logs crane, cosign and Helm in to a registry.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/release.sh
source "$here/lib/release.sh"

(($# == 2)) || die "login.sh takes a registry's host and a user; it reads the password from standard input"
crane=$(release_tool crane) helm=$(release_tool helm)
password=$(cat)
# Cosign reads crane's credentials.
"$crane" auth login "$1" --username "$2" --password-stdin <<<"$password"
"$helm" registry login "$1" --username "$2" --password-stdin <<<"$password"
