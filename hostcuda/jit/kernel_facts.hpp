// What a driver must know of a kernel before it is compiled, read from the syntax tree.
#pragma once

#include "base/result.hpp"
#include "hostcuda/jit/block_compiler.hpp"
#include "ptx/syntax.hpp"

namespace sluice::hostcuda::jit {

// kernel_facts() follows calls to find the variables that the kernel reaches.
Result<KernelFacts> kernel_facts(const ptx::Module& module, std::string_view kernel);

}  // namespace sluice::hostcuda::jit
