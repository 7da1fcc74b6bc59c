# Writes OUTPUT from TEMPLATE with the commit of SOURCE and what else is given; not where nothing changed.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(commit unknown)
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
