# What Sluice stands on. scripts/setup installs all of it.
include(GoogleTest)

find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)  # headers only: ICL
find_package(benchmark REQUIRED)

# isl as Polly ships it: Debian's own libisl.a is not position independent.
find_program(SLUICE_LLVM_CONFIG NAMES llvm-config-19 REQUIRED)
execute_process(COMMAND ${SLUICE_LLVM_CONFIG} --libdir OUTPUT_VARIABLE SLUICE_LLVM_LIBDIR OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${SLUICE_LLVM_CONFIG} --includedir OUTPUT_VARIABLE SLUICE_LLVM_INCLUDEDIR OUTPUT_STRIP_TRAILING_WHITESPACE)
# Imported archives, so that CMake puts each after whatever needs it on the link line.
add_library(sluice_isl STATIC IMPORTED GLOBAL)
set_target_properties(sluice_isl PROPERTIES IMPORTED_LOCATION ${SLUICE_LLVM_LIBDIR}/libPollyISL.a)
target_include_directories(sluice_isl SYSTEM INTERFACE ${SLUICE_LLVM_INCLUDEDIR} ${SLUICE_LLVM_INCLUDEDIR}/polly)

# sluice_llvm(TARGET COMPONENTS...) makes an interface library of static LLVM components.
function(sluice_llvm target)
  execute_process(COMMAND ${SLUICE_LLVM_CONFIG} --link-static --libfiles ${ARGN}
    OUTPUT_VARIABLE files OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${SLUICE_LLVM_CONFIG} --link-static --system-libs ${ARGN}
    OUTPUT_VARIABLE system_libraries OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(files UNIX_COMMAND "${files}")
  separate_arguments(system_libraries UNIX_COMMAND "${system_libraries}")
  # LLVM was built with libxml2, terminfo and Z3 for parts that we do not link, or, which is Z3's, that the
  # linker drops again.
  list(FILTER system_libraries EXCLUDE REGEX "xml2|tinfo|z3")
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${SLUICE_LLVM_INCLUDEDIR})
  target_compile_definitions(${target} INTERFACE _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
  target_link_libraries(${target} INTERFACE ${files} -Wl,--as-needed ${system_libraries} -Wl,--no-as-needed)
  target_link_options(${target} INTERFACE -Wl,--gc-sections)
endfunction()

if(SLUICE_HAS_DEVICE)
  sluice_llvm(sluice_llvm_ir core support analysis transformutils)
  sluice_llvm(sluice_llvm_analysis passes irreader analysis transformutils scalaropts ipo codegen instcombine vectorize)
  add_library(sluice_polly STATIC IMPORTED GLOBAL)
  set_target_properties(sluice_polly PROPERTIES IMPORTED_LOCATION ${SLUICE_LLVM_LIBDIR}/libPolly.a)
  target_include_directories(sluice_polly SYSTEM INTERFACE ${SLUICE_LLVM_INCLUDEDIR}/polly)
  target_link_libraries(sluice_polly INTERFACE sluice_isl sluice_llvm_analysis)
  sluice_llvm(sluice_llvm_jit orcjit x86 passes bitreader bitwriter)
  sluice_llvm(sluice_llvm_symbolize symbolize)
  include(SluiceToolkit)
endif()
