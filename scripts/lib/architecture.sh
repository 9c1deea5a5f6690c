# shellcheck shell=bash
# The two architectures of images, amd64 and arm64, and the programs for them. Needs image.sh.

# shellcheck disable=SC2034 # read by the scripts that source this
PROGRAMS=(synergy synergy-extender synergy-controller synergy-device-plugin synergy-node-agent)

# Prints the architecture, of the two, that this machine does not have.
other_architecture() {
  if [[ $(image_architecture) == arm64 ]]; then echo amd64; else echo arm64; fi
}

# machine_of ARCHITECTURE: prints the name by which uname, compilers and QEMU know the architecture.
machine_of() {
  if [[ $1 == arm64 ]]; then echo aarch64; else echo x86_64; fi
}

# program_architecture FILE: prints the architecture of the program in the file; nothing if the file
# is not a program for one of the two.
program_architecture() {
  local header
  header=$(od --address-radix n --format x1 --read-bytes 20 "$1" | tr -d ' \n')
  # The header of an ELF file with 64 bits, little-endian, and e_machine.
  case $header in
    7f454c460201*3e00) echo amd64 ;;
    7f454c460201*b700) echo arm64 ;;
  esac
}
