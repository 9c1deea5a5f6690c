#!/usr/bin/env bash
# run.sh SUBJECT/NAME.py ARGUMENTS...: runs a Python program of this folder, which can import the
# modules of every subject and of tests/chart.
set -euo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PYTHONPATH=$(printf '%s:' "$tests"/cluster/*/)$tests/chart
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "$tests/cluster/$1" "${@:2}" # with python3-yaml
