# Runs FUZZER, of FUZZED, for SECONDS on a new corpus in FOLDER: what the tests and samples in BUILD
# make for it, and FOUND.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER} ${FOLDER}/made)
set(samples "stencil --size 64 --iterations 4 --block 16,8" "heat3d --size 16 --iterations 3 --block 8,4,4"
  "wave --size 40 --iterations 4 --block 16,16" "attention --steps 1" "nbody --bodies 256 --steps 3"
  "gemm_chain --rows 32 --size 32 --layers 2" "elimination --size 8 --block 8,8" "residual --layers 2")

# run_samples() leaves their journals, and what they keep of analyses and compiled code, in `made`.
function(run_samples)
  foreach(sample IN LISTS samples)
    separate_arguments(words UNIX_COMMAND "${sample}")
    list(POP_FRONT words name)
    set(ENV{SLUICE_ANALYSIS_CACHE} ${FOLDER}/made/analysis)
    set(ENV{SLUICE_CODE_CACHE} ${FOLDER}/made/code)
    set(ENV{SLUICE_GOVERNOR} off)
    execute_process(
      COMMAND ${BUILD}/bin/sluice run --device cpu --journal ${FOLDER}/made/${name}.journal
        -- ${BUILD}/samples/${name} ${words}
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

set(most_bytes 20000)
if(FUZZED STREQUAL ptx)
  file(GLOB_RECURSE seeds ${BUILD}/tests/*.ptx)
elseif(FUZZED STREQUAL fat_binary)
  set(most_bytes 60000)
  foreach(sample IN LISTS samples)
    string(REGEX REPLACE " .*" "" name ${sample})
    execute_process(COMMAND objcopy -O binary --only-section=.nv_fatbin ${BUILD}/samples/${name}
      ${FOLDER}/made/${name}.fatbin COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND seeds ${FOLDER}/made/${name}.fatbin)
  endforeach()
  list(APPEND seeds ${BUILD}/samples/stencil)  # a whole program
elseif(FUZZED STREQUAL journal)
  run_samples()
  file(GLOB seeds ${FOLDER}/made/*.journal)
else()
  run_samples()
  file(GLOB seeds ${FOLDER}/made/analysis/* ${FOLDER}/made/code/*)
endif()
list(LENGTH seeds count)
if(count LESS 5)
  message(FATAL_ERROR "only ${count} seeds in ${BUILD}: run scripts/build first")
endif()
file(GLOB found ${FOUND}/*)
foreach(input IN LISTS seeds found)
  file(MD5 ${input} name)
  file(COPY_FILE ${input} ${FOLDER}/${name})
endforeach()
file(REMOVE_RECURSE ${FOLDER}/made)
file(MAKE_DIRECTORY ${FOLDER}.scratch)
set(ENV{TMPDIR} ${FOLDER}.scratch)
# A busy machine takes minutes over an input of a second; ctest's own limit is 300.
execute_process(
  COMMAND ${FUZZER} -max_total_time=${SECONDS} -timeout=200 -rss_limit_mb=2048
    -max_len=${most_bytes} -seed=${SEED} -print_final_stats=1 -artifact_prefix=${FOLDER}/ ${FOLDER}
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the fuzzer ended with ${result}")
endif()
