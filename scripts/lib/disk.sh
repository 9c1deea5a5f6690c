# shellcheck shell=bash
# Room on disks.

# free_mib FOLDER: prints what its disk has left.
free_mib() { df --output=avail --block-size=1M "$1" | tail -n 1 | tr -d ' '; }
