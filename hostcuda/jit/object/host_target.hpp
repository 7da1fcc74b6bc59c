// The processor that code is compiled for: the one that runs it.
#pragma once

#include <memory>
#include <string>

#include <llvm/Target/TargetMachine.h>

#include "base/result.hpp"

namespace sluice::hostcuda::jit {

// HostProcessor is what the compiler's choices depend on, as LLVM names it.
struct HostProcessor {
  std::string name;
  std::string features;
};

// host_processor() is this machine's, or the level of x86-64 that SLUICE_CPU names. It asks the
// processor at the first call and remembers, also that LLVM doesn't know it: asking takes tens of
// instructions that a hypervisor answers. Thread-safe.
Result<HostProcessor> host_processor();

// make_host_target() makes a code generator for host_processor(), which takes several hundred
// microseconds: for whoever compiles. Floating-point operations are never fused or reordered: what
// PTX wrote is what is computed. Thread-safe.
Result<std::unique_ptr<llvm::TargetMachine>> make_host_target();

}  // namespace sluice::hostcuda::jit
