# shellcheck shell=bash
# Free space on disks.

# free_mib FOLDER: prints the free space on the folder's disk in MiB.
free_mib() { df --output=avail --block-size=1M "$1" | tail -n 1 | tr -d ' '; }
