# Bash completion of sluice: its subcommands, their options as --help prints them, and behind the options of
# run, check and verify the program.
_sluice() {
  local word=${COMP_WORDS[COMP_CWORD]} tool=${COMP_WORDS[0]} command=${COMP_WORDS[1]} i
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "--help --version $("$tool" --help 2>/dev/null |
      sed -n '/^Subcommands:/,$s/^  \([a-z]\+\) .*/\1/p')" -- "$word")
    return
  fi
  if [[ $command = @(run|check|verify) ]]; then
    for ((i = 2; i < COMP_CWORD; ++i)); do
      if [ "${COMP_WORDS[i]}" = -- ] && declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
        return
      fi
    done
  fi
  local previous=${COMP_WORDS[COMP_CWORD - 1]} help words=
  help=$("$tool" "$command" --help 2>/dev/null)
  # What an option takes stands in the help between braces, but for devices.
  case $previous in
    --device) words="auto gpu cpu" ;;
    --*) words=$(sed -n "s/^ *$previous [A-Z]*:{\([^}]*\)}.*/\1/p" <<<"$help" | tr , ' ') ;;
  esac
  if [ -z "$words" ] && [[ $word == -* ]]; then
    words=$(grep -o '^ *\(-h,\)\?--[a-z-]\+' <<<"$help" | grep -o -- '--.*')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -o bashdefault -F _sluice sluice
