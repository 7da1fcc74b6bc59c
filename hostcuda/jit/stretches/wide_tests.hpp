// Divisions of 64 bits by numbers that nearly always have 32.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"

namespace sluice::hostcuda::jit {

// WideTests are those of a loop over threads by which nvcc has a program choose between a division
// of 64 bits and a quick one of 32: whether (divisor | dividend) < 2^32, of a divisor that is the
// same in all rounds and a dividend that counts with them. Where all pass in all rounds, what they
// choose between is decided in front of the loop.
class WideTests {
 public:
  // Finds them. The loop stays as it is.
  WideTests(const CountedLoop& loop, llvm::ScalarEvolution& evolution);

  // may_fail() computes whether one fails in a round, null where there are none. `expand` computes
  // a value at `ir`, in front of the loop; the last round is of 64 bits and below 2^31.
  llvm::Value* may_fail(llvm::IRBuilder<>& ir, llvm::Value* last_round,
                        llvm::function_ref<llvm::Value*(const llvm::SCEV*)> expand) const;

  // pass_all() has all pass in the loop. Blocks that nothing reaches then are left for the caller
  // to remove.
  void pass_all() const;

 private:
  enum class Width { extended_zeros, extended_sign, whole };
  struct Test {
    llvm::ICmpInst* compare = nullptr;
    bool passes = true;              // what it says where it passes
    llvm::Value* divisor = nullptr;  // null where it is known to have 32 bits
    const llvm::SCEV* start = nullptr;
    Width width = Width::whole;
  };
  llvm::SmallVector<Test, 4> tests_;
};

}  // namespace sluice::hostcuda::jit
