// The values that a loop's variable takes, where they are few.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>

#include "hostcuda/jit/convergence/lane_values.hpp"
#include "hostcuda/jit/convergence/loop_variable.hpp"

namespace sluice::hostcuda::jit {

// LoopValues follows variables that start at constants, or at what follows from the variable of a
// loop around, through the rounds: halves, doubles, and what is swapped in each round.
class LoopValues {
 public:
  LoopValues(const llvm::Function& function, const Dim3& block, const llvm::LoopInfo& loops)
      : function_(function), block_(block), loops_(loops) {}

  // of() holds every value that all threads of the block may find in the variable together; it is
  // empty where they are not known or more than 64. A product that wraps to 0 is left out.
  const std::vector<uint64_t>& of(const llvm::PHINode& phi) { return find(phi, 0); }

  // variables_of() are the variables with known values that a value depends on.
  std::vector<const llvm::PHINode*> variables_of(const llvm::Value* value);

 private:
  const std::vector<uint64_t>& find(const llvm::PHINode& phi, unsigned depth);
  std::vector<uint64_t> start_of(const llvm::Value* start, unsigned depth);
  std::vector<uint64_t> follow(const llvm::PHINode& phi, const LoopVariable& variable,
                               std::vector<uint64_t> values);
  void find_variables(const llvm::Value* value, unsigned depth,
                      std::vector<const llvm::PHINode*>& found);

  const llvm::Function& function_;
  const Dim3 block_;
  const llvm::LoopInfo& loops_;
  std::map<const llvm::PHINode*, std::vector<uint64_t>> known_;
};

}  // namespace sluice::hostcuda::jit
