// Atomic operations that keep long work beside them from being vectorised.
#pragma once

#include <llvm/IR/Function.h>

namespace sluice::hostcuda::jit {

// set_atomics_apart() has threads meet before and behind atomic updates without a result whose
// neighbours update neighbouring memory, where much is computed beside them: then one loop over
// threads computes, in vectors, and another updates. True where it changed something. What a thread
// does is unchanged, since a meeting only delays; whether all threads come to the meetings together
// is not known here.
bool set_atomics_apart(llvm::Function& function);

}  // namespace sluice::hostcuda::jit
