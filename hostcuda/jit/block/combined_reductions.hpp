// Additions to global memory, put together before they are atomic.
#pragma once

#include <cstdint>
#include <optional>

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include "hostcuda/jit/threads/body_frame.hpp"

namespace sluice::hostcuda::jit {

// Reductions is a table in a block's private memory in which a kernel's additions of one kind to
// global memory (`red.add`) collect while the blocks of a call run. A place of the table belongs to
// one address at a time, by its lowest bits; what another address puts out is added to memory, and
// all that is left when the call ends. Where a thread's only addition goes to an address that
// depends on its place in the block alone, as a block's bins do, each thread has a place of its
// own.
class Reductions {
 public:
  // find() looks at a thread function. Nothing where some of its additions could be missed before
  // the call ends: where a thread may touch memory after one that others can touch too, where it
  // waits for others by memory, or where it uses a result.
  // `block` may be null, where neighbouring blocks run at once.
  static std::optional<Reductions> find(llvm::Function& thread, const Dim3* block);

  // reserve() takes the table's memory.
  void reserve(BodyFrame& frame);
  // collect() has the additions of a body go to the table.
  void collect(llvm::Function& body) const;
  // begin() clears the table in front of a call's blocks, end() empties it into memory behind them.
  // `memory` is the block's private memory.
  void begin(llvm::IRBuilder<>& ir, llvm::Value* memory) const;
  void end(llvm::IRBuilder<>& ir, llvm::Value* memory) const;

 private:
  Reductions(llvm::Type* type, llvm::AtomicRMWInst::BinOp operation, uint64_t places)
      : type_(type), operation_(operation), places_(places) {}
  bool is_one(const llvm::AtomicRMWInst& atomic) const;
  void collect(llvm::AtomicRMWInst& atomic, llvm::Value* memory) const;
  void collect(llvm::CallInst& own, llvm::Value* memory) const;
  llvm::Value* add(llvm::IRBuilder<>& ir, llvm::Value* before, llvm::Value* value) const;
  llvm::Value* tag(llvm::IRBuilder<>& ir, llvm::Value* memory, llvm::Value* place) const;
  llvm::Value* sum(llvm::IRBuilder<>& ir, llvm::Value* memory, llvm::Value* place) const;
  void put_out(llvm::IRBuilder<>& ir, llvm::Value* tag, llvm::Value* sum) const;

  llvm::Type* type_;
  llvm::AtomicRMWInst::BinOp operation_;
  uint64_t places_;
  uint64_t tags_ = 0;  // bytes into the private memory: of i64, the address; 0 where there is none
  uint64_t sums_ = 0;  // of the type
};

}  // namespace sluice::hostcuda::jit
