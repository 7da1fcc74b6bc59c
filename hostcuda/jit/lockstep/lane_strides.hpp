// How far apart neighbouring threads access memory.
#pragma once

#include <cstdint>
#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// LaneStrides guesses by how many units a value of a thread function grows from a thread to its
// neighbour in x: nothing where that is not the same for all lanes of a warp or not known. It takes
// index arithmetic never to wrap, so it serves decisions about speed only.
class LaneStrides {
 public:
  explicit LaneStrides(llvm::Function& function)
      : tid_x_(function.getArg(ThreadFunction::tid)),
        layout_(function.getParent()->getDataLayout()) {}

  std::optional<int64_t> of(const llvm::Value* value);

 private:
  std::optional<int64_t> find(const llvm::Value* value);
  std::optional<int64_t> of_sum(const llvm::User& sum, int sign);
  std::optional<int64_t> of_part(const llvm::User& part);
  std::optional<int64_t> of_row(const llvm::User& division);
  std::optional<int64_t> of_choice(const llvm::SelectInst& choice);
  std::optional<int64_t> of_product(const llvm::Value* value, const llvm::Value* factor);
  bool comes_back(const llvm::Value* value, const llvm::PHINode& phi) const;
  std::optional<int64_t> of_phi(const llvm::PHINode& phi);
  std::optional<int64_t> of_address(const llvm::GetElementPtrInst& address);
  bool is_uniform(const llvm::User& user);

  const llvm::Value* tid_x_;
  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, std::optional<int64_t>> known_;
};

}  // namespace sluice::hostcuda::jit
