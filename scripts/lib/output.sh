# shellcheck shell=bash
# Messages. They go to standard error, so that other programs can parse a command's output.

say() { printf '%s\n' "$*" >&2; }

warn() { printf 'warning: %s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# need_value --shape "${2-}": fails if the option has no value, or the next option follows instead.
need_value() {
  [[ -n ${2-} && $2 != --* ]] || die "$1 needs a value"
}

# need_number OPTION VALUE LOWEST HIGHEST: fails if the value is not a whole number in this range.
need_number() {
  need_value "$1" "${2-}"
  if [[ ! $2 =~ ^(0|[1-9][0-9]{0,8})$ ]] || (($2 < $3 || $2 > $4)); then
    die "$1 needs a whole number from $3 to $4, not '$2'"
  fi
}
