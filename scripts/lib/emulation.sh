# shellcheck shell=bash
# The kernel's interpreter for programs of another architecture. Needs architecture.sh.

BINFMT=/proc/sys/fs/binfmt_misc
emulated='' binfmt_mounted=

# emulate ARCHITECTURE: makes the kernel run programs for it, in containers too (flag F).
# stop_emulating removes what emulate has added; call it in a trap.
emulate() {
  local machine interpreter rule
  machine=$(machine_of "$1")
  interpreter=$BINFMT/qemu-$machine rule=/usr/lib/binfmt.d/qemu-$machine.conf
  if [[ ! -e $BINFMT/register ]]; then
    mount -t binfmt_misc binfmt_misc "$BINFMT" || die "this kernel cannot run programs for $1 (binfmt_misc): run it on a machine for $1"
    binfmt_mounted=1
  fi
  if [[ ! -e $interpreter ]]; then
    [[ -e $rule ]] || die "this machine runs no programs for $1: run scripts/setup.sh --cross"
    # The rule has to be one write, without a newline at its end.
    printf '%s' "$(<"$rule")" >"$BINFMT/register"
    emulated=$interpreter
  fi
  grep -q '^flags: .*F' "$interpreter" || die "$interpreter is not for containers (flag F): install qemu-user-static"
}

stop_emulating() {
  [[ -z $emulated ]] || echo -1 >"$emulated"
  [[ -z $binfmt_mounted ]] || umount "$BINFMT"
  emulated='' binfmt_mounted=
}
