# shellcheck shell=bash
# Work that is to take only what others leave of the processors.

# begin_beside LOG COMMAND...: runs the command in the background, in a session of its own, whose id is in `beside` then. Where
# the kernel shares the processors among sessions (autogroups), a nice value counts within its session alone, and the session
# itself has another one.
begin_beside() {
  # shellcheck disable=SC2016 # the inner shell's
  setsid bash -c '
    [[ ! -w /proc/self/autogroup ]] || echo 15 >/proc/self/autogroup
    exec nice -n 15 "$@"' bash "${@:2}" >"$1" 2>&1 &
  beside=$!
  trap end_beside EXIT
}

# finish_beside LOG: waits for it, and prints what it printed. Fails as it does.
finish_beside() {
  local status=0
  wait "$beside" || status=$?
  beside=
  cat "$1" >&2
  return $status
}

# end_beside: ends it where it has not been waited for.
end_beside() {
  [[ -z ${beside-} ]] || kill -- "-$beside"
}
