// By what the values of a kernel vary. Internal to the analysis.
#pragma once

#include <functional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace sluice::analysis {

// Varies is by what a value differs within one launch; the later ones include the earlier ones.
enum class Varies {
  not_at_all,
  by_thread,  // or by the pass through a loop, in every block alike
  by_block,   // or by what nobody knows: atomics, clocks, memory that the kernel writes
};

// Variation looks at every value of a kernel, to a fixed point over its loops and over its shared
// and local memory, each taken as one.
class Variation {
 public:
  // `is_written` says of a load from memory of the device whether the kernel may write there.
  using IsWritten = std::function<bool(const llvm::Instruction& load)>;
  Variation(llvm::Function& kernel, IsWritten is_written);

  Varies of(const llvm::Value* value) const;

 private:
  Varies evaluate(const llvm::Instruction& instruction) const;
  Varies of_call(const llvm::CallBase& call) const;
  Varies of_load(const llvm::Instruction& load, const llvm::Value* address) const;
  Varies of_phi(const llvm::PHINode& phi) const;
  Varies of_operands(const llvm::Instruction& instruction) const;
  void find_deciding(llvm::PHINode& phi);
  bool note_private_store(const llvm::Instruction& instruction);

  IsWritten is_written_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree after_;
  llvm::DenseMap<const llvm::Value*, Varies> known_;
  // The conditions that choose between a phi's values.
  llvm::DenseMap<const llvm::PHINode*, llvm::SmallVector<const llvm::Value*, 4>> deciding_;
  Varies private_memory_ = Varies::not_at_all;  // what lies in shared and local memory
};

}  // namespace sluice::analysis
