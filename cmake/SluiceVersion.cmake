# sluice_built(TARGET) adds the source to TARGET that says what this build is. It is written again when the
# commit that is checked out changes, and nothing else is then compiled.
function(sluice_built target)
  execute_process(COMMAND ${SLUICE_LLVM_CONFIG} --version OUTPUT_VARIABLE llvm OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(STRINGS ${SLUICE_CUDA_HOME}/include/cuda.h cuda REGEX "^#define CUDA_VERSION ")
  string(REGEX REPLACE ".* ([0-9]+)([0-9][0-9])[0-9]$" "\\1.\\2" cuda "${cuda}")
  string(REPLACE ".0" "." cuda "${cuda}")
  file(RELATIVE_PATH libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/sluice)
  set(template ${PROJECT_SOURCE_DIR}/tools/built.cpp.in)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/built.cpp)
  # Git notes there each time that another commit is checked out.
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
    OUTPUT_VARIABLE heads OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT EXISTS "${heads}")
    set(heads)
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTEMPLATE=${template} -DOUTPUT=${output}
      -Dversion=${PROJECT_VERSION} "-Dcompiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
      -Dllvm=${llvm} -Dcuda=${cuda} -Dlibraries=${libraries}
      -P ${PROJECT_SOURCE_DIR}/cmake/write_built.cmake
    DEPENDS ${template} ${PROJECT_SOURCE_DIR}/cmake/write_built.cmake ${heads}
    COMMENT "Noting the commit" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
