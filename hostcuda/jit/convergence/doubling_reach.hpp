// Addresses that depend on a variable which doubles or halves from round to round of a loop.
//
// Trees, scans and sorting networks go so: in each round each lane has another partner, twice or
// half as far away. Whoever writes and reads one buffer at such addresses exchanges with other
// lanes.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Value.h>

#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

using DoublingVariables = llvm::SmallPtrSet<const llvm::Instruction*, 4>;

// doubling_variables() are the variables of loops that are the same for all lanes and are
// multiplied, divided or shifted by constants in each round.
DoublingVariables doubling_variables(const llvm::LoopInfo& loops, const Uniformity& uniformity);

// reaches_by() says whether an address is computed from one of them by arithmetic alone.
bool reaches_by(const llvm::Value& address, const DoublingVariables& variables);

}  // namespace sluice::hostcuda::jit
