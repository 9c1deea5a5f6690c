# shellcheck shell=bash
# Messages. They go to standard error, so that a command's output for other programs stays clean.

say() { printf '%s\n' "$*" >&2; }

warn() { printf 'warning: %s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# need_value --shape "${2-}": fails unless an option has a value that is not the next option.
need_value() {
  [[ -n ${2-} && $2 != --* ]] || die "$1 needs a value"
}

# need_number OPTION VALUE LOWEST HIGHEST
need_number() {
  need_value "$1" "${2-}"
  if [[ ! $2 =~ ^(0|[1-9][0-9]{0,8})$ ]] || (($2 < $3 || $2 > $4)); then
    die "$1 needs a whole number from $3 to $4, not '$2'"
  fi
}
