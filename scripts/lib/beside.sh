# shellcheck shell=bash
# Runs work that takes only the CPU that other processes leave.

# begin_beside LOG COMMAND...: runs the command in the background, in a new session, and stores the
# session's id in `beside`. If the kernel shares the processors among sessions (autogroups), a nice
# value counts only within its session, so the session gets a nice value, too.
begin_beside() {
  # shellcheck disable=SC2016 # the inner shell's
  setsid bash -c '
    [[ ! -w /proc/self/autogroup ]] || echo 15 >/proc/self/autogroup
    exec nice -n 15 "$@"' bash "${@:2}" >"$1" 2>&1 &
  beside=$!
  trap end_beside EXIT
}

# finish_beside LOG: waits for the command, prints its output, and fails if it failed. Meanwhile the
# command gets as much CPU as any other session, so that other load cannot starve it. That needs
# root.
finish_beside() {
  local status=0
  { echo 0 >"/proc/$beside/autogroup"; } 2>/dev/null || true
  ps -o pid= --sid "$beside" | xargs -r renice -n 0 -p >/dev/null 2>&1 || true
  wait "$beside" || status=$?
  beside=
  cat "$1" >&2
  return $status
}

# end_beside: ends the command unless finish_beside has waited for it.
end_beside() {
  [[ -z ${beside-} ]] || kill -- "-$beside"
}
