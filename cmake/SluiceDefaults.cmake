# Compiler settings and the two helpers by which every module and test is declared.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# -O3 takes longer to compile and makes nothing faster that the benches see.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Everything may end up inside a user's process: nothing is visible but what a file exports.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# What is in a program's process has the standard library inside, where the system has that to link in: the
# program may bring an older one, and loading it costs more than most of what Sluice has to do at a start.
# What starts programs has all inside.
include(CheckCXXSourceCompiles)
set(uses_library "#include <string>\nint main(int count, char** given) { return std::string(given[0]).size() == 0; }")
set(inside -static-libstdc++ -static-libgcc)
set(CMAKE_REQUIRED_LINK_OPTIONS ${inside})
check_cxx_source_compiles("${uses_library}" SLUICE_LINKS_STANDARD_LIBRARY)
set(CMAKE_REQUIRED_LINK_OPTIONS -static)
check_cxx_source_compiles("${uses_library}" SLUICE_LINKS_ALL)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
set(SLUICE_LIBRARY_INSIDE)
if(SLUICE_LINKS_STANDARD_LIBRARY AND NOT SLUICE_SANITIZE)
  set(SLUICE_LIBRARY_INSIDE ${inside})
endif()
set(SLUICE_ALL_INSIDE ${SLUICE_LIBRARY_INSIDE})
if(SLUICE_LINKS_ALL AND NOT SLUICE_SANITIZE)
  set(SLUICE_ALL_INSIDE -static)
endif()

# Libraries are relocated in every process: so packed, LLVM's 90,000 places take 40 KB instead of 2.2 MB. glibc 2.36
# knows the form.
include(CheckCXXSourceRuns)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
check_cxx_source_runs("static int value; int* place = &value; int main() { return place != &value; }"
  SLUICE_PACKS_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(SLUICE_PACKS_RELOCATIONS)
  add_link_options(-Wl,-z,pack-relative-relocs)
endif()

find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE)
  # Paths relative to the checkout, so that a new clone finds what another one compiled.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${SLUICE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

add_library(sluice_plain_flags INTERFACE)
# Units include files by their full paths, which assertions of ours and of tests print.
target_compile_options(sluice_plain_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
# GCC warns of unnamed namespaces in what is not the main file; units hold several such files. Clang warns of what
# GCC's library calls deprecated and uses itself.
target_compile_options(sluice_plain_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers
  $<IF:$<CXX_COMPILER_ID:GNU>,-Wno-subobject-linkage,-Wno-deprecated-declarations>)
# GCC collects its garbage at 128 MiB by default; a unit fills that many times over. At 512 MiB it takes 13 %
# less time (tools' first unit: 14.5 s, now 12.5) and 1.0 GiB at most instead of 0.75.
target_compile_options(sluice_plain_flags INTERFACE
  "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=524288>")
if(SLUICE_WERROR)
  target_compile_options(sluice_plain_flags INTERFACE -Werror)
endif()
add_library(sluice_flags INTERFACE)
target_link_libraries(sluice_flags INTERFACE sluice_plain_flags)
# Instrumented code at -O3 takes a minute a file to compile and finds no more. With all the checks of
# addresses and undefined behaviour even -O1 takes twice as long as -O0, and GCC twice as long as clang, by which
# scripts/build has them built. What is fuzzed as well (tests/fuzz) has to run some thousand times in half a minute.
if(SLUICE_SANITIZE STREQUAL "address")
  target_compile_options(sluice_flags INTERFACE $<IF:$<BOOL:$<TARGET_PROPERTY:SLUICE_FUZZED>>,-O1,-O0>)
  target_compile_options(sluice_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(sluice_flags INTERFACE -fsanitize=address,undefined)
  target_compile_options(sluice_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fsanitize=fuzzer-no-link>)
elseif(SLUICE_SANITIZE STREQUAL "thread")
  target_compile_options(sluice_flags INTERFACE -O1 -fsanitize=thread -fno-omit-frame-pointer -g1)
  target_link_options(sluice_flags INTERFACE -fsanitize=thread)
elseif(SLUICE_SANITIZE)
  message(FATAL_ERROR "SLUICE_SANITIZE is '${SLUICE_SANITIZE}'; use address or thread")
endif()

# Most of a compilation is reading headers, LLVM's above all: files of a target are compiled twelve at a
# time, which takes a third of the processor time. With SLUICE_UNITS=OFF each file is compiled alone.
option(SLUICE_UNITS "Compile several files of a target at once" ON)
function(sluice_in_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SLUICE_UNITS} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# sluice_unit(TARGET NAME REGEX) compiles the target's files whose names match as one unit, so that a change
# of what only they include compiles no others; the last that matches a file counts. Each file of the target
# must be in one.
function(sluice_unit target name regex)
  if(SLUICE_UNITS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "${regex}")
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP "${name}")
endfunction()

# sluice_module(NAME SOURCES a.cpp ... LINK lib ...) declares the static library sluice_NAME. PLAIN
# modules are built without sanitizers: the CPU device, which stands below Sluice as NVIDIA's driver
# does, and what calls LLVM.
function(sluice_module name)
  cmake_parse_arguments(ARG "PLAIN" "" "SOURCES;LINK" ${ARGN})
  set(flags sluice_flags)
  if(ARG_PLAIN)
    set(flags sluice_plain_flags)
  endif()
  add_library(sluice_${name} STATIC ${ARG_SOURCES})
  target_include_directories(sluice_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(sluice_${name} PUBLIC ${ARG_LINK} PRIVATE ${flags})
  sluice_in_units(sluice_${name})
endfunction()

# sluice_test(NAME SOURCES a_test.cpp ... LINK lib ...) declares the GoogleTest program NAME in
# tests/<module>/ and registers each of its tests with ctest. A test is given TIMEOUT seconds (300)
# before it counts as hanging; none comes near that on an idle machine. With PROGRAMS its tests run
# whole programs, and `scripts/test --check-footprints` runs them too. Sources APART give names that
# others have too, and are compiled alone. What only tests is compiled for a short build rather than for
# speed, with COMPUTES, where tests themselves compute for seconds, for somewhat more.
function(sluice_test name)
  cmake_parse_arguments(ARG "PROGRAMS;COMPUTES" "TIMEOUT" "SOURCES;APART;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_APART})
  sluice_in_units(${name})
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} sluice_flags GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE $<IF:$<BOOL:${ARG_COMPUTES}>,-O1,-O0>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  # What a test counts must not depend on what a busy machine makes the governor measure, nor on when
  # an analysis has ended.
  # Two properties, since discovery takes a list of variables apart.
  set(properties TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT SLUICE_GOVERNOR=off
    ENVIRONMENT_MODIFICATION SLUICE_ANALYSIS=set:wait)
  if(ARG_PROGRAMS)
    list(APPEND properties LABELS programs)
  endif()
  # Programs of 60 MB that are not in memory take a slow disk longer than the usual 5 seconds.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES ${properties})
endfunction()
