# What is installed, and what scripts/package packs. The launcher finds its libraries beside itself, so the
# whole may be moved.
set(private ${CMAKE_INSTALL_LIBDIR}/sluice)
install(TARGETS sluice_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS sluice_all_tools RUNTIME DESTINATION ${private})
install(TARGETS sluice_shim sluice_engine sluice_analysis_library LIBRARY DESTINATION ${private})
install(TARGETS sluice_libcuda sluice_libcudart sluice_libcudart_12 sluice_cudart sluice_cudart_12 sluice_audit ${SLUICE_FORWARDERS}
  LIBRARY DESTINATION ${private}/cpu)
install(PROGRAMS interpose/run_time_code/tools/nvcc interpose/run_time_code/tools/ptxas
  DESTINATION ${private}/cpu/tools)
install(FILES cmake/package/sluice.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cmake/package/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sluice)
install(FILES LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
# What the files need of a system; scripts/package finds out and writes it.
install(FILES ${PROJECT_BINARY_DIR}/package/README DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
# Installing must not build every test first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# sluice_notice(NAME PACKAGE LICENCE [OTHER]) notes what is linked in from Debian's PACKAGE; the text of its
# licence goes with it, from where that package has it, or an OTHER.
set(notices "Linked into Sluice, whose own licence is Apache-2.0 (LICENSE):\n\n")
function(sluice_notice name package licence)
  set(text_package ${package} ${ARGN})
  list(GET text_package -1 text_package)
  set(text /usr/share/doc/${text_package}/copyright)
  set(version "version not known")
  find_program(SLUICE_DPKG_QUERY dpkg-query)
  if(SLUICE_DPKG_QUERY)
    execute_process(COMMAND ${SLUICE_DPKG_QUERY} -W -f "\${Version}" ${package}
      OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0)
      set(version ${found})
    endif()
  endif()
  if(EXISTS ${text})
    install(FILES ${text} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${text_package})
  endif()
  string(APPEND notices "${name}, ${version}: ${licence}; its text: licences/${text_package}, on Debian ${text}\n")
  set(notices "${notices}" PARENT_SCOPE)
endfunction()
sluice_notice("LLVM" llvm-19-dev "Apache-2.0 WITH LLVM-exception")
sluice_notice("Polly" libpolly-19-dev "Apache-2.0 WITH LLVM-exception")
sluice_notice("isl with IMath, as Polly brings them" libpolly-19-dev "MIT" libisl23)
sluice_notice("CLI11" libcli11-dev "BSD-3-Clause")
sluice_notice("{fmt}" libfmt-dev "MIT")
sluice_notice("JSON for Modern C++ (nlohmann/json)" nlohmann-json3-dev "MIT")
sluice_notice("Boost (ICL and what it includes)" libboost-dev "BSL-1.0")
sluice_notice("xxHash" libxxhash-dev "BSD-2-Clause")
sluice_notice("tl::expected" libexpected-dev "CC0-1.0")
if(SLUICE_LIBRARY_INSIDE)
  string(REGEX MATCH "^[0-9]+" gcc "${CMAKE_CXX_COMPILER_VERSION}")
  sluice_notice("GNU C++ and compiler libraries (libstdc++, libgcc)" libstdc++-${gcc}-dev
    "GPL-3.0-or-later WITH GCC-exception-3.1" gcc-${gcc}-base)
endif()
if(SLUICE_LINKS_ALL)
  sluice_notice("GNU C library, in bin/sluice" libc6-dev "LGPL-2.1-or-later" libc6)
endif()
file(WRITE ${PROJECT_BINARY_DIR}/NOTICES "${notices}")
install(FILES ${PROJECT_BINARY_DIR}/NOTICES DESTINATION ${CMAKE_INSTALL_DOCDIR})

# scripts/package runs CPack on an installed tree.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs unmodified CUDA programs as a graph of thread-block tasks")
set(CPACK_PACKAGE_VENDOR "Sluice contributors")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME sluice-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Sluice contributors <sluice@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)  # in a tenth of the time that xz takes
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/cpu
  ${PROJECT_BINARY_DIR}/interpose/run_time_code/asked)
include(CPack)
