#include "hostcuda/jit/lowering/program_order.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

class Sorter {
 public:
  explicit Sorter(Function& function) : dominators_(function), loops_(dominators_) {
    const ReversePostOrderTraversal<Function*> blocks(&function);
    for (BasicBlock* block : blocks) {
      waiting_.push_back(block);
      for (BasicBlock* next : successors(block)) {
        if (!is_way_back(*block, *next)) ++ways_to_[next];
      }
    }
  }

  std::vector<BasicBlock*> run() {
    std::vector<BasicBlock*> order;
    while (!waiting_.empty()) {
      const auto next = best();
      BasicBlock* block = *next;
      waiting_.erase(next);
      order.push_back(block);
      current_ = loops_.getLoopFor(block);
      for (BasicBlock* successor : successors(block)) {
        if (!is_way_back(*block, *successor)) --ways_to_[successor];
      }
    }
    return order;
  }

 private:
  bool is_way_back(const BasicBlock& from, const BasicBlock& to) const {
    const Loop* loop = loops_.getLoopFor(&to);
    return loop && loop->getHeader() == &to && loop->contains(&from);
  }

  // How many of the loops around the block before are around this one too.
  unsigned shared_loops(const BasicBlock& block) const {
    const Loop* loop = current_;
    while (loop && !loop->contains(&block))
      loop = loop->getParentLoop();
    return loop ? loop->getLoopDepth() : 0;
  }

  // The block to go on with: one that all ways lead to, and as deep inside the loops that are not
  // through as there is. Where a cycle is no loop to LLVM, none may be: then the first.
  std::vector<BasicBlock*>::iterator best() {
    auto found = waiting_.end();
    for (auto block = waiting_.begin(); block != waiting_.end(); ++block) {
      if (ways_to_.lookup(*block) != 0) continue;
      if (found == waiting_.end() || shared_loops(**block) > shared_loops(**found)) found = block;
    }
    return found == waiting_.end() ? waiting_.begin() : found;
  }

  const DominatorTree dominators_;
  const LoopInfo loops_;
  std::vector<BasicBlock*> waiting_;  // in reverse post-order
  DenseMap<const BasicBlock*, unsigned> ways_to_;
  const Loop* current_ = nullptr;
};

}  // namespace

std::vector<BasicBlock*> program_order(Function& function) {
  return Sorter(function).run();
}

}  // namespace sluice::hostcuda::jit
