// A SluiceBlockFunction around the function of one block.
#pragma once

#include <llvm/IR/Function.h>

#include "hostcuda/jit/block/block_body.hpp"

namespace sluice::hostcuda::jit {

// emit_block_function() adds a function `name` with the signature of SluiceBlockFunction: a loop
// over the launch's blocks, in linear order, each with its own indices. `shared_offset` is where
// the block's shared memory lies in the scratch memory, `is_flushing` whether it needs
// run_flushing() (flushed_operands.hpp).
llvm::Function* emit_block_function(const BlockBody& body, uint64_t shared_offset, bool is_flushing,
                                    llvm::StringRef name);

// emit_call_through() adds a function `name` with that signature, to be called from outside: a call
// of the runtime's function `symbol` with `body`, the arguments and the address that `address`
// names (outside_address.hpp).
llvm::Function* emit_call_through(llvm::Module& module, llvm::StringRef name,
                                  llvm::StringRef symbol, llvm::Constant* body,
                                  const char* address);

}  // namespace sluice::hostcuda::jit
