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
  case ${COMP_WORDS[COMP_CWORD - 1]} in
    --device) mapfile -t COMPREPLY < <(compgen -W "auto gpu cpu" -- "$word") ;;
    --dependence) mapfile -t COMPREPLY < <(compgen -W "exact buffer" -- "$word") ;;
    --only) mapfile -t COMPREPLY < <(compgen -W "races memory init" -- "$word") ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "text json junit sarif github" -- "$word") ;;
    --megakernel) mapfile -t COMPREPLY < <(compgen -W "off background wait" -- "$word") ;;
    *)
      if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$tool" "$command" --help 2>/dev/null |
          grep -o '^ *\(-h,\)\?--[a-z-]\+' | grep -o -- '--.*')" -- "$word")
      fi
      ;;
  esac
}
complete -o default -o bashdefault -F _sluice sluice
