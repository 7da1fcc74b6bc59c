// Addresses as sums: what each thread can be told to add, and what is only known when the kernel
// runs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include "hostcuda/jit/convergence/lane_values.hpp"
#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

// AddressTerm is a value that is not known, times a factor for each thread.
struct AddressTerm {
  const llvm::Value* value = nullptr;
  std::vector<int64_t> factor;
  uint64_t step = 1;  // the value is a multiple of it
  const llvm::Value* start =
      nullptr;           // of a loop's variable of which only what it has gained counts
  bool uniform = false;  // the same for all lanes of a warp that are at the same place
};

// LaneAddress is an address in bytes, as distance from the block's shared memory where `shared` is
// set.
struct LaneAddress {
  std::vector<int64_t> offset;  // of each thread
  std::vector<AddressTerm> terms;
  bool shared = false;
};

// Chosen are values that are taken to be one of their operands, as the greater of two numbers is.
using Chosen = std::map<const llvm::Value*, const llvm::Value*>;

// LaneAddresses finds them. It takes the arithmetic of addresses never to wrap.
class LaneAddresses {
 public:
  LaneAddresses(llvm::Function& function, LaneValues& values, const Uniformity& uniformity,
                const llvm::LoopInfo& loops)
      : function_(function), values_(values), uniformity_(uniformity), loops_(loops) {}

  LaneAddress of(const llvm::Value* pointer, const Chosen& chosen = {});

 private:
  using Factor = std::vector<int64_t>;
  void add(const llvm::Value* value, const Factor& factor, unsigned depth);
  bool add_product(const llvm::Value* value, const llvm::Value* by, const Factor& factor,
                   unsigned depth);
  void add_offsets(const llvm::Value* address, const Factor& factor, unsigned depth);
  bool add_operation(const llvm::Instruction& operation, const Factor& factor, unsigned depth);
  bool add_induction(const llvm::PHINode& phi, const Factor& factor, unsigned depth);
  AddressTerm& term(const llvm::Value* value, const Factor& factor);
  bool is_uniform(const llvm::Value* value) const;

  llvm::Function& function_;
  LaneValues& values_;
  const Uniformity& uniformity_;
  const llvm::LoopInfo& loops_;
  Chosen chosen_;
  LaneAddress found_;
};

// induction_step() is what a loop's variable grows by in each round, null for other values.
const llvm::Value* induction_step(const llvm::PHINode& phi, const llvm::LoopInfo& loops);

}  // namespace sluice::hostcuda::jit
