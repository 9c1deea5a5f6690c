# shellcheck shell=bash
# The cluster's processes: starts them in the background, records them, and ends exactly the
# processes that it started.
#
# $STATE/pids/NAME contains "PID START BOOT". A process that later gets the same number has another
# start time or another boot, so it never gets a signal. If a component was stopped on purpose, the
# file contains the word "stopped" instead.

# process_start PID: prints the start time in clock ticks since boot; fails if the process does not
# exist or is a zombie. After a kill, a program's first thread is a zombie while its other threads
# still end; files and ports are closed when the last one ends.
process_start() {
  local stat fields
  { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  # The second field is the program's name in brackets, which may contain anything, so fields are
  # counted from its end.
  read -r -a fields <<<"${stat##*) }"
  [[ ${fields[0]} != Z || ${fields[17]} -gt 1 ]] && printf '%s\n' "${fields[19]}"
}

# write_record NAME TEXT: writes atomically, because an empty record would mean that the component
# has died.
write_record() {
  printf '%s\n' "$2" >"$STATE/pids/.$1"
  mv "$STATE/pids/.$1" "$STATE/pids/$1"
}

# remember NAME PID: writes the record of a running process.
remember() {
  write_record "$1" "$2 $(process_start "$2") $(</proc/sys/kernel/random/boot_id)"
}

# living_pid RECORD: prints the process id in the record if that process still lives.
living_pid() {
  local pid start boot
  read -r pid start boot <<<"$1"
  [[ $boot == "$(</proc/sys/kernel/random/boot_id)" && $(process_start "$pid") == "$start" ]] &&
    printf '%s\n' "$pid"
}

# component_pid NAME: prints the process id of the component if it lives.
component_pid() {
  local record
  { IFS= read -r record <"$STATE/pids/$1"; } 2>/dev/null && living_pid "$record"
}

# component_state NAME: prints running, stopped (on purpose), dead, or absent (never started). Reads
# the record only once, because a start may replace it meanwhile.
component_state() {
  local record
  if ! { IFS= read -r record <"$STATE/pids/$1"; } 2>/dev/null; then
    echo absent
  elif [[ $record == stopped ]]; then
    echo stopped
  elif living_pid "$record" >/dev/null; then
    echo running
  else
    echo dead
  fi
}

# spawn NAME COMMAND...: starts the command in a new session, so that it outlives the terminal, with
# its output in $STATE/logs/NAME.log. Writes the record before it releases the lock, so that a
# `down` after a killed `up` finds the process.
spawn() {
  local name=$1
  shift
  (
    remember "$name" "$BASHPID"
    detach "$name"
    exec setsid "$@"
  ) &
  disown
}

detach() {
  exec </dev/null >>"$STATE/logs/$1.log" 2>&1 9>&-
  cd "$STATE" || exit
}

# stop_component NAME [SIGNAL]: sends the signal and waits; kills the component after ten seconds
# without effect.
stop_component() {
  local name=$1 signal=${2-TERM} pid waited=0
  if pid=$(component_pid "$name"); then
    kill -s "$signal" "$pid" 2>/dev/null || true
    while component_pid "$name" >/dev/null; do
      ((++waited != 200)) || kill -s KILL "$pid" 2>/dev/null || true
      sleep 0.05
    done
  fi
  write_record "$name" stopped
}

# fail_if_dead NAME...: reports components that have died, with the ends of their logs, and fails if
# there are any.
fail_if_dead() {
  local name dead=0
  for name in "$@"; do
    if [[ $(component_state "$name") == dead ]]; then
      dead=1
      say "$name died; the end of $STATE/logs/$name.log:"
      tail -n 20 "$STATE/logs/$name.log" >&2
    fi
  done
  ((dead == 0))
}

# wait_until SECONDS WHAT COMMAND...: waits until COMMAND succeeds, while every component lives. The
# limits are generous, because everything takes long on a busy machine; the death of a component is
# noticed at once.
wait_until() {
  local deadline=$((SECONDS + $1)) what=$2 started
  shift 2
  until "$@" &>/dev/null; do
    mapfile -t started < <(ls "$STATE/pids")
    fail_if_dead "${started[@]}" || exit 1
    ((SECONDS < deadline)) || die "waited in vain for $what; the disk of $STATE has $(free_mib "$STATE") MiB left"
    sleep 0.2
  done
}
