#include "hostcuda/jit/regions/uniformity.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "hostcuda/jit/regions/partings.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool is_divergent_argument(const Argument& argument, bool across_blocks) {
  const unsigned number = argument.getArgNo();
  if (across_blocks && (number == ThreadFunction::ctaid || number == ThreadFunction::shared))
    return true;
  return number >= ThreadFunction::tid && number < ThreadFunction::first_parameter;
}

bool is_divergent_load(const LoadInst& load) {
  return !load.isSimple() || isa<AllocaInst>(getUnderlyingObject(load.getPointerOperand()));
}

// Propagation follows divergence from where it arises to values, to branches that they decide, and
// from these to phis where threads meet that went different ways and to values that they take out
// of loops in different rounds.
class Propagation {
 public:
  Propagation(Function& function, const std::vector<SyncPoint>& points, bool across_blocks,
              Uniformity::IsShared is_shared)
      : points_(points),
        is_shared_(std::move(is_shared)),
        partings_(function, is_shared_ != nullptr) {
    cycles_.compute(function);
    for (const SyncPoint& point : points)
      cuts_.insert(point.block);
    unsigned number = 0;
    for (BasicBlock* block : ReversePostOrderTraversal<Function*>(&function))
      order_[block] = number++;
    for (const Cycle* cycle : cycles_.toplevel_cycles())
      find_irreducible(*cycle);
    // Where there are cuts threads may come to such a cycle apart.
    if (!is_shared_) {
      for (const Cycle* cycle : irreducible_)
        give_up(*cycle);
    }
    for (Argument& argument : function.args()) {
      if (is_divergent_argument(argument, across_blocks)) spread(argument);
    }
    for (Instruction& instruction : instructions(function)) {
      if (is_source(instruction)) mark(instruction);
    }
    while (!pending_.empty())
      spread(*pending_.pop_back_val());
  }

  DenseSet<const Instruction*> take_values() {
    values_.insert(taken_out_.begin(), taken_out_.end());
    return std::move(values_);
  }
  DenseSet<const BasicBlock*> take_branches() { return std::move(branches_); }

 private:
  using Blocks = Parting::Blocks;

  bool is_block_wide_result(const Value& value) const {
    return any_of(points_, [&](const SyncPoint& point) {
      return point.result == &value && is_block_wide(point.code.operation) && !point.is_numbered;
    });
  }

  void find_irreducible(const Cycle& cycle) {
    for (const Cycle* inner : cycle.children())
      find_irreducible(*inner);
    if (!cycle.isReducible()) irreducible_.push_back(&cycle);
  }

  // Threads that have parted may enter such a cycle at different places, and go round it apart.
  void give_up(const Cycle& cycle) {
    if (!left_apart_.insert(&cycle).second) return;
    for (BasicBlock* block : cycle.blocks()) {
      for (PHINode& phi : block->phis())
        mark(phi);
    }
    take_out(cycle);
  }

  bool is_source(const Instruction& instruction) const {
    if (auto* load = dyn_cast<LoadInst>(&instruction)) return is_divergent_load(*load);
    // Each thread has its own local memory.
    if (isa<AllocaInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return true;
    auto* call = dyn_cast<CallBase>(&instruction);
    if (!call || is_block_wide_result(instruction)) return false;
    return !call->doesNotAccessMemory() || call->isConvergent();
  }

  void mark(Instruction& instruction) {
    if (is_block_wide_result(instruction)) return;
    if (is_shared_ && is_shared_(instruction)) return;
    if (values_.insert(&instruction).second) pending_.push_back(&instruction);
  }

  void spread(Value& value) {
    for (User* user : value.users())
      reach(*cast<Instruction>(user));
  }

  // reach() is for an instruction with a divergent operand.
  void reach(Instruction& user) {
    if (!user.isTerminator()) return mark(user);
    BasicBlock& block = *user.getParent();
    if (user.getNumSuccessors() > 1 && branches_.insert(&block).second) part(block);
  }

  // part() is for threads that leave `block` by different edges.
  void part(BasicBlock& block) {
    const auto [meeting, between] = partings_.at(block);
    for (const Cycle* cycle : irreducible_) {
      const bool come_apart = any_of(
          between, [&](BasicBlock* other) { return other != meeting && cycle->isEntry(other); });
      if (come_apart) give_up(*cycle);
    }
    join(block, between, [&](BasicBlock* from) { return from == meeting; });
    if (any_of(between, [&](BasicBlock* other) { return cuts_.contains(other); }))
      part_at_cuts(block);
    for (const Cycle* cycle = cycles_.getCycle(&block); cycle; cycle = cycle->getParentCycle()) {
      const bool stay =
          meeting && all_of(between, [&](BasicBlock* other) { return cycle->contains(other); });
      if (stay) break;
      if (left_apart_.insert(cycle).second) take_out(*cycle);
    }
  }

  // apart_from() lists the blocks that lead from `start` to the next cuts, or back to `block`.
  Blocks apart_from(BasicBlock& start, const BasicBlock& block) const {
    Blocks apart;
    apart.insert(&start);
    for (size_t i = 0; i < apart.size(); ++i) {
      if (cuts_.contains(apart[i]) || apart[i] == &block) continue;
      for (BasicBlock* next : successors(apart[i]))
        apart.insert(next);
    }
    return apart;
  }

  // part_at_cuts() is for a branch between which and its meeting lies a cut: there some threads
  // wait, while others go past the meeting and on until they come to a cut too, which may be the
  // same one in a later round of a loop around it all. Of what that loop counts each has its own.
  // So it is where a way comes back to `block` without a cut, and takes the way to one then.
  void part_at_cuts(BasicBlock& block) {
    const auto has_cut = [&](const Blocks& blocks) {
      return any_of(blocks, [&](BasicBlock* other) { return cuts_.contains(other); });
    };
    Blocks apart;
    unsigned ways = 0;
    bool comes_back = false;
    for (BasicBlock* next : successors(&block)) {
      const Blocks way = apart_from(*next, block);
      if (has_cut(way)) {
        ++ways;
      } else {
        comes_back |= way.contains(&block);
      }
      apart.insert(way.begin(), way.end());
    }
    if (ways < 2 && !(ways == 1 && comes_back)) return;  // the others end
    apart.remove(&block);
    join(block, apart, [&](BasicBlock* from) { return cuts_.contains(from); });
    if (comes_back) apart.insert(&block);
    for (const Cycle* cycle = cycles_.getCycle(&block); cycle; cycle = cycle->getParentCycle()) {
      if (!apart.contains(cycle->getHeader())) continue;
      const bool waits_within = any_of(apart, [&](BasicBlock* other) {
        return cuts_.contains(other) && cycle->contains(other);
      });
      if (ways < 2 && !waits_within) continue;
      for (PHINode& phi : cycle->getHeader()->phis())
        mark(phi);
      for (BasicBlock* other : apart) {
        for (Instruction& instruction : *other) {
          if (isa<LoadInst>(instruction) && cycle->contains(other)) mark(instruction);
        }
      }
    }
  }

  // Each way out of `block` has a label, which its blocks carry as far as they are reached by no
  // other: where two labels meet, phis tell which way a thread came. Nothing is brought from where
  // is_end() holds.
  template <class IsEnd>
  void join(BasicBlock& block, const Blocks& between, IsEnd is_end) {
    SmallVector<BasicBlock*, 16> order(between.begin(), between.end());
    sort(order, [&](BasicBlock* a, BasicBlock* b) { return order_.lookup(a) < order_.lookup(b); });
    DenseMap<BasicBlock*, BasicBlock*> labels;
    for (BasicBlock* next : successors(&block))
      labels[next] = next;
    Blocks joins;
    bool changed = true;
    while (changed) {
      changed = false;
      for (BasicBlock* current : order) {
        BasicBlock* label = labels.lookup(current);
        const bool is_own = label == current;
        if (!is_own) label = nullptr;
        for (BasicBlock* from : predecessors(current)) {
          BasicBlock* brought = from == &block || is_end(from) ? nullptr : labels.lookup(from);
          if (!brought || brought == label) continue;
          if (label) joins.insert(current);
          label = label ? current : brought;
        }
        changed |= label && labels.lookup(current) != label;
        if (label) labels[current] = label;
      }
    }
    for (BasicBlock* place : joins) {
      for (PHINode& phi : place->phis()) {
        // Where some have nothing, what they would leave in a place for all is anything.
        if (!phi.hasConstantValue()) mark(phi);
      }
    }
  }

  // take_out() is for a cycle that threads leave in different rounds, each with values of its own.
  void take_out(const Cycle& cycle) {
    for (BasicBlock* block : cycle.blocks()) {
      for (Instruction& instruction : *block) {
        for (User* user : instruction.users()) {
          auto* place = cast<Instruction>(user);
          if (cycle.contains(place->getParent())) continue;
          taken_out_.insert(&instruction);
          reach(*place);
        }
      }
    }
  }

  const std::vector<SyncPoint>& points_;
  const Uniformity::IsShared is_shared_;
  const Partings partings_;
  CycleInfo cycles_;
  DenseMap<BasicBlock*, unsigned> order_;
  DenseSet<const Instruction*> values_, taken_out_;
  DenseSet<const BasicBlock*> branches_, cuts_;
  std::vector<const Cycle*> irreducible_;
  SmallPtrSet<const Cycle*, 8> left_apart_;
  SmallVector<Instruction*, 32> pending_;
};

}  // namespace

Uniformity::Uniformity(Function& function, const std::vector<SyncPoint>& points,
                       bool across_blocks) {
  Propagation propagation(function, points, across_blocks, {});
  divergent_ = propagation.take_values();
  divergent_branches_ = propagation.take_branches();
}

Uniformity Uniformity::of_warps(Function& function, const IsShared& is_shared) {
  const std::vector<SyncPoint> no_points;
  Propagation propagation(function, no_points, false, is_shared);
  Uniformity result;
  result.divergent_ = propagation.take_values();
  result.divergent_branches_ = propagation.take_branches();
  return result;
}

}  // namespace sluice::hostcuda::jit
