// Integers that each thread of a block can be told to compute before anything runs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "base/dim3.hpp"

namespace sluice::hostcuda::jit {

// LaneValues computes values of a thread function for all threads of one block: those that follow
// from the thread's index, constants and what assume() says, by integer arithmetic alone.
class LaneValues {
 public:
  // One element a thread, in their linear order; the bits above the value's width are zero.
  using Lanes = std::vector<uint64_t>;

  LaneValues(const llvm::Function& function, const Dim3& block);

  // of_all() is for what is the same for all threads: of() has one element then.
  static LaneValues of_all(const llvm::Function& function, const Dim3& block);

  // of() is null where a value depends on anything else, as on memory or a parameter. What it
  // points to lives as long as this.
  const Lanes* of(const llvm::Value* value) { return find(value, 0); }

  // assume() says what a value is, before anything that depends on it has been asked for.
  void assume(const llvm::Value* value, Lanes lanes) { known_[value] = keep(std::move(lanes)); }

  size_t threads() const { return threads_; }

 private:
  explicit LaneValues(size_t threads) : threads_(threads) {}
  const Lanes* find(const llvm::Value* value, unsigned depth);
  const Lanes* compute(const llvm::Instruction& instruction, unsigned depth);
  const Lanes* decide(const llvm::Instruction& instruction, unsigned depth);
  const Lanes* keep(Lanes lanes);

  const size_t threads_;
  std::vector<std::unique_ptr<Lanes>> kept_;
  llvm::DenseMap<const llvm::Value*, const Lanes*> known_;
};

inline constexpr size_t warp_size = 32;

// is_equal_in_warps() says whether all lanes of each warp have the same element.
template <class T>
bool is_equal_in_warps(const std::vector<T>& lanes) {
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] != lanes[i / warp_size * warp_size]) return false;
  }
  return true;
}

// signed_lane() reads a value of `type` as a signed number.
int64_t signed_lane(uint64_t value, const llvm::Type& type);

}  // namespace sluice::hostcuda::jit
