# The CUDA toolkit: nvcc for the samples and kernels, headers for the driver and the shim.
# scripts/setup finds it or fetches it and passes SLUICE_CUDA_HOME.
set(SLUICE_CUDA_HOME "$ENV{CUDA_HOME}" CACHE PATH "CUDA toolkit 13: holds bin/nvcc and include/cuda.h")
if(NOT SLUICE_CUDA_HOME AND EXISTS /usr/local/cuda/bin/nvcc)
  set(SLUICE_CUDA_HOME /usr/local/cuda CACHE PATH "" FORCE)
endif()
if(NOT EXISTS ${SLUICE_CUDA_HOME}/bin/nvcc)
  message(FATAL_ERROR "No CUDA toolkit at '${SLUICE_CUDA_HOME}': run scripts/build, which finds or fetches one, or set CUDA_HOME")
endif()
set(SLUICE_NVCC ${SLUICE_CUDA_HOME}/bin/nvcc)
add_library(sluice_cuda_headers INTERFACE)
target_include_directories(sluice_cuda_headers SYSTEM INTERFACE ${SLUICE_CUDA_HOME}/include)

# sluice_cuda_program(NAME SOURCES a.cu ... OUTPUT dir FLAGS ...) builds a program with nvcc, as a
# user would: shared cudart unless FLAGS say otherwise, no knowledge of Sluice. The target is
# NAME_program, since a target NAME in build/samples would clash with the program's own path.
function(sluice_cuda_program name)
  cmake_parse_arguments(ARG "" "OUTPUT" "SOURCES;FLAGS;DEPENDS" ${ARGN})
  if(NOT "-cudart" IN_LIST ARG_FLAGS)
    list(APPEND ARG_FLAGS -cudart shared)
  endif()
  set(output ${ARG_OUTPUT}/${name})
  set(sources)
  foreach(source ${ARG_SOURCES})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${ARG_OUTPUT}
    COMMAND ${SLUICE_NVCC} -std=c++17 -O2 ${ARG_FLAGS} -o ${output} ${sources}
    DEPENDS ${sources} ${ARG_DEPENDS}
    COMMENT "nvcc ${name}" VERBATIM)
  add_custom_target(${name}_program ALL DEPENDS ${output})
endfunction()

# sluice_cuda_ptx(SOURCE OUTPUT FLAGS...) compiles one .cu file to PTX text.
function(sluice_cuda_ptx source output)
  get_filename_component(source ${source} ABSOLUTE)
  get_filename_component(folder ${output} DIRECTORY)
  set(architecture -arch=compute_75)
  if(ARGN MATCHES "-arch=")
    set(architecture)
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${SLUICE_NVCC} -std=c++17 -O2 ${architecture} -ptx ${ARGN} -o ${output} ${source}
    DEPENDS ${source} COMMENT "nvcc -ptx ${source}" VERBATIM)
endfunction()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
