// The access trace: block code that reports every access to memory outside its block.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "hostcuda/block_abi.h"

namespace sluice::hostcuda::jit {

// AccessPlace is one address that an instruction touches.
struct AccessPlace {
  llvm::Value* pointer = nullptr;
  llvm::Value* bytes = nullptr;  // null: `size`
  uint64_t size = 0;
  uint32_t kind = 0;  // SLUICE_ACCESS_READ, _WRITE or both
};
std::vector<AccessPlace> access_places(llvm::Instruction& instruction);

// mark_private_accesses() marks, in a lifted module, the accesses whose state space says that they
// are no part of a footprint: shared, unless that is wanted, local, parameters, constant memory.
// Later the spaces are gone. Those to shared memory get a mark of their own too.
void mark_private_accesses(llvm::Module& module, bool with_shared);

// insert_trace() puts a call of `sluice_jit_trace` before every access of the thread function that
// is not marked. An access by a generic address is reported wherever it leads: who listens must
// leave out those into the block's scratch memory, its stack and its parameters.
void insert_trace(llvm::Function& function);

// set_access_sink() says who hears of the accesses of the calling thread; null: nobody.
void set_access_sink(const SluiceAccessSink* sink);

// The metadata of an access that is not traced.
inline constexpr const char* private_metadata = "sluice.private";
// The metadata of an access to shared memory.
inline constexpr const char* shared_metadata = "sluice.shared";
inline constexpr const char* trace_symbol = "sluice_jit_trace";

// sluice_jit_trace() is what traced code calls; `kind` joins SLUICE_ACCESS_READ, _WRITE, _ATOMIC.
extern "C" void sluice_jit_trace(uint64_t address, uint64_t bytes, uint32_t kind, uint32_t line);

}  // namespace sluice::hostcuda::jit
