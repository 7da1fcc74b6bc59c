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

}  // namespace sluice::hostcuda::jit
