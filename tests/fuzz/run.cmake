# Runs the fuzzer for SECONDS on a new corpus: every PTX file below SEEDS, and FOUND.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
file(GLOB_RECURSE kernels ${SEEDS}/*.ptx)
foreach(kernel IN LISTS kernels)
  file(MD5 ${kernel} name)
  file(COPY_FILE ${kernel} ${FOLDER}/${name})
endforeach()
file(GLOB found ${FOUND}/*)
foreach(input IN LISTS found)
  file(COPY ${input} DESTINATION ${FOLDER})
endforeach()
list(LENGTH kernels count)
if(count LESS 5)
  message(FATAL_ERROR "only ${count} seeds below ${SEEDS}: build the tests first")
endif()
execute_process(
  COMMAND ${FUZZER} -max_total_time=${SECONDS} -timeout=10 -rss_limit_mb=2048 -max_len=20000
    -seed=1 -print_final_stats=1 -artifact_prefix=${FOLDER}/ ${FOLDER}
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the fuzzer ended with ${result}")
endif()
