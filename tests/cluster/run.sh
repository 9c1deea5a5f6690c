#!/usr/bin/env bash
# Runs a Python program of this folder, which can import the modules of every subject and of tests/chart: run.sh SUBJECT/NAME.py
# ARGUMENTS...
set -euo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PYTHONPATH=$(printf '%s:' "$tests"/cluster/*/)$tests/chart
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "$tests/cluster/$1" "${@:2}" # with python3-yaml
