// How often the compiler makes lanes of a warp meet.
#pragma once

#include <string>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Function.h>

#include "base/dim3.hpp"

namespace sluice::hostcuda {

// meetings_in() is insert_warp_meetings()'s answer for a kernel of a PTX text; the test fails where
// the kernel can't be lowered.
unsigned meetings_in(const std::string& ptx, const std::string& kernel, const Dim3& block);

// ptx_of() reads a file that the build has made of tests/kernels/NAME.cu.
std::string ptx_of(const std::string& name);

// use_thread_function() lowers a kernel as lower_kernel() does before it looks for meetings, and
// calls use(thread function). The test fails where the kernel can't be lowered.
void use_thread_function(const std::string& ptx, const std::string& kernel, const Dim3& block,
                         llvm::function_ref<void(llvm::Function&)> use);

}  // namespace sluice::hostcuda
