# shellcheck shell=bash
# The cluster's processes: started in the background, remembered, and ended by exactly the identity
# with which they were started.
#
# $STATE/pids/NAME holds "PID START BOOT": a process that gets the same number later has another
# start time, or another boot, and never gets a signal. A component that was stopped on purpose has
# the word "stopped" there instead.

# process_start PID: prints the start time in clock ticks since boot; fails if the process does not
# exist or is a zombie. A killed program's first thread is a zombie while its others still end, and
# only the last closes files and ports.
process_start() {
  local stat fields
  { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  # The second field is the program's name in brackets and may hold anything, so fields count from
  # its end.
  read -r -a fields <<<"${stat##*) }"
  [[ ${fields[0]} != Z || ${fields[17]} -gt 1 ]] && printf '%s\n' "${fields[19]}"
}

# write_record NAME TEXT: writes atomically, because an empty record would mean a component that
# died.
write_record() {
  printf '%s\n' "$2" >"$STATE/pids/.$1"
  mv "$STATE/pids/.$1" "$STATE/pids/$1"
}

# remember NAME PID
remember() {
  write_record "$1" "$2 $(process_start "$2") $(</proc/sys/kernel/random/boot_id)"
}

# living_pid RECORD: prints the process id in it while that very process lives.
living_pid() {
  local pid start boot
  read -r pid start boot <<<"$1"
  [[ $boot == "$(</proc/sys/kernel/random/boot_id)" && $(process_start "$pid") == "$start" ]] &&
    printf '%s\n' "$pid"
}

# component_pid NAME: the same for the component.
component_pid() {
  local record
  { IFS= read -r record <"$STATE/pids/$1"; } 2>/dev/null && living_pid "$record"
}

# component_state NAME: prints running, stopped (on purpose), dead, or absent (never started). It
# reads the record once: it may be replaced meanwhile, when the component is started.
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

# spawn NAME COMMAND...: starts it in a session of its own, so that it outlives the terminal, with
# its output in $STATE/logs/NAME.log. It is remembered before the lock is released, so that a `down`
# after a killed `up` finds it.
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

# stop_component NAME [SIGNAL]: ends it and waits; kills it after ten seconds without effect.
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

# fail_if_dead NAME...: reports the components that died by themselves, with the end of their logs.
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

# wait_until SECONDS WHAT COMMAND...: waits until COMMAND succeeds, while every component lives. On
# a busy machine everything takes long, so the limits are generous: the death of a component is
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
