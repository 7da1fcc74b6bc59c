// Whether a loop does several times what another one does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {

// Linear is an integer or an address as a sum, modulo 2^64: of constants times values, some of them
// widened from 32 bits, and of a constant.
struct Linear {
  enum class Width { whole, sign_extended, zero_extended };
  using Term = std::pair<const llvm::Value*, Width>;
  std::map<Term, uint64_t> terms;
  uint64_t constant = 0;

  void add(const Linear& other, uint64_t factor);
  void add(const Term& term, uint64_t factor);
  friend bool operator==(const Linear&, const Linear&) = default;
};

// Rolled is one loop of one block, `one`, and another, `many`, that runs `count` rounds of it in
// each of its own. `partners` leads from variables of `one` to what they are in `many`. Both count
// by `place`, which begins with `start` and, in `many`, with `middle`, is never negative, and wraps
// in none of these rounds.
struct Rolled {
  const llvm::BasicBlock* one = nullptr;
  const llvm::BasicBlock* many = nullptr;
  unsigned count = 0;
  llvm::DenseMap<const llvm::PHINode*, const llvm::PHINode*> partners;
  const llvm::PHINode* place = nullptr;
  const llvm::Value* start = nullptr;
  const llvm::Value* middle = nullptr;
  bool is_signed = false;  // place stays below 2^31: both ways to widen it are the same
};

// UnrolledRounds compares the two.
class UnrolledRounds {
 public:
  explicit UnrolledRounds(const Rolled& loops) : loops_(loops) {}

  // are_the_same() is whether all variables and all accesses to memory are the same.
  bool are_the_same();
  // is_same() is whether `of_many` is what `of_one` is in the given one of its rounds, from 0 on.
  bool is_same(const llvm::Value* of_many, const llvm::Value* of_one, unsigned round);
  // linear() is nothing where the value is no integer or address of at most 64 bits.
  std::optional<Linear> linear(const llvm::Value* value);

 private:
  bool have_same_accesses();
  bool is_same_instruction(const llvm::Instruction& of_many, const llvm::Instruction& of_one,
                           unsigned round);
  std::optional<Linear> of_instruction(const llvm::Instruction& instruction);
  std::optional<Linear> of_variable(const llvm::PHINode& phi);
  std::optional<Linear> widened(const llvm::CastInst& cast);
  std::optional<Linear> address(const llvm::GetElementPtrInst& address);
  std::optional<Linear> in_round(const Linear& of_one, unsigned round) const;
  const llvm::Value* leaf(const llvm::Value* value);
  bool is_inside(const llvm::Value* value) const;

  const Rolled& loops_;
  std::map<std::pair<const llvm::Value*, unsigned>, const llvm::Value*> known_;
  std::map<std::vector<const void*>, const llvm::Value*> leaves_;
  size_t steps_ = 0;
};

// step_of() is by how much a loop's variable grows in each round, where that is a constant.
std::optional<int64_t> step_of(const llvm::PHINode& phi);

}  // namespace sluice::hostcuda::jit
