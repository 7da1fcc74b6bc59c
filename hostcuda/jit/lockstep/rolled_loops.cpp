#include "hostcuda/jit/lockstep/rolled_loops.hpp"

#include <optional>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "hostcuda/jit/lockstep/lane_strides.hpp"
#include "hostcuda/jit/lockstep/unrolled_rounds.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using namespace llvm::PatternMatch;

// Of a block that branches to `target` and to one other.
BasicBlock* other_successor(const BasicBlock* block, const BasicBlock* target) {
  const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
  if (!branch || !branch->isConditional()) return nullptr;
  if (branch->getSuccessor(0) == branch->getSuccessor(1)) return nullptr;
  if (branch->getSuccessor(0) == target) return branch->getSuccessor(1);
  return branch->getSuccessor(1) == target ? branch->getSuccessor(0) : nullptr;
}

BasicBlock* other_predecessor(BasicBlock* block, const BasicBlock* known) {
  BasicBlock* other = nullptr;
  for (BasicBlock* before : predecessors(block)) {
    if (before == known) continue;
    if (other != nullptr) return nullptr;
    other = before;
  }
  return other;
}

bool is_loop(const BasicBlock* block) {
  return is_contained(successors(block), block);
}

bool has_side_effects(const BasicBlock& block) {
  return any_of(block, [](const Instruction& of) { return of.mayHaveSideEffects(); });
}

bool accesses_memory(const BasicBlock& block) {
  return any_of(block, [](const Instruction& of) { return of.mayReadOrWriteMemory(); });
}

// A comparison that a branch makes, turned so that it holds where the branch goes to `target`.
std::optional<ICmpInst::Predicate> asked(const BasicBlock* block, const BasicBlock* target,
                                         const ICmpInst*& compare) {
  const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
  if (!branch || !branch->isConditional()) return std::nullopt;
  compare = dyn_cast<ICmpInst>(branch->getCondition());
  if (!compare) return std::nullopt;
  return branch->getSuccessor(0) == target ? compare->getPredicate()
                                           : compare->getInversePredicate();
}

// Unrolled is the two loops: `before` leads to `rest`, and `skip`, which may be the same block,
// past it to `join`, that to `many`, perhaps by way of `entry`, or to `exit`, where `many` ends
// too.
class Unrolled {
 public:
  explicit Unrolled(BasicBlock* rest) : rest_(rest) {}

  // find() is false where the blocks or what they do are not such.
  bool find() {
    return find_blocks() && find_partners() && find_test() && runs_all_rounds() &&
           computes_the_same();
  }
  // Whether all threads run as many rounds of the first loop.
  bool is_shared(LaneStrides& strides) const { return strides.of(rounds_) == 0; }
  void roll();

 private:
  bool find_blocks();
  bool find_partners();
  const PHINode* partner_of(const PHINode& phi) const;
  bool find_test();
  bool runs_all_rounds();
  bool starts_below() const;
  bool computes_the_same() const;

  BasicBlock* rest_;
  BasicBlock* before_ = nullptr;
  BasicBlock* skip_ = nullptr;
  BasicBlock* join_ = nullptr;
  BasicBlock* entry_ = nullptr;
  BasicBlock* many_ = nullptr;
  BasicBlock* exit_ = nullptr;
  Rolled loops_;
  ICmpInst::Predicate below_ = ICmpInst::BAD_ICMP_PREDICATE;  // for another round of `many`
  Value* bound_ = nullptr;
  Value* rounds_ = nullptr;  // of `rest`
};

bool Unrolled::find_blocks() {
  join_ = other_successor(rest_, rest_);
  before_ = other_predecessor(rest_, rest_);
  if (!join_ || !before_ || is_loop(join_) || has_side_effects(*join_)) return false;
  skip_ = before_->getSingleSuccessor() == rest_ ? before_->getSinglePredecessor() : before_;
  if (!skip_ || other_predecessor(join_, rest_) != skip_) return false;
  if (other_successor(skip_, join_) != (skip_ == before_ ? rest_ : before_)) return false;
  if (skip_ != before_ && accesses_memory(*before_)) return false;
  for (BasicBlock* entry : successors(join_)) {
    many_ = is_loop(entry) ? entry : entry->getSingleSuccessor();
    exit_ = other_successor(join_, entry);
    if (!many_ || !exit_ || !is_loop(many_) || many_ == rest_) continue;
    entry_ = many_ == entry ? join_ : entry;
    if (entry_ != join_ && (entry_->getSinglePredecessor() != join_ || has_side_effects(*entry_)))
      continue;
    if (other_predecessor(many_, many_) == entry_ && other_successor(many_, many_) == exit_)
      return true;
  }
  return false;
}

// The variable of `rest` with whose last value one of `many` begins.
const PHINode* Unrolled::partner_of(const PHINode& phi) const {
  const auto* joined = dyn_cast<PHINode>(phi.getIncomingValueForBlock(entry_));
  if (!joined || joined->getParent() != join_) return nullptr;
  for (const PHINode& of_rest : rest_->phis()) {
    if (of_rest.getIncomingValueForBlock(rest_) == joined->getIncomingValueForBlock(rest_) &&
        of_rest.getIncomingValueForBlock(before_) == joined->getIncomingValueForBlock(skip_))
      return &of_rest;
  }
  return nullptr;
}

bool Unrolled::find_partners() {
  loops_.one = rest_;
  loops_.many = many_;
  for (const PHINode& phi : many_->phis()) {
    const PHINode* of_rest = partner_of(phi);
    if (of_rest ? !loops_.partners.try_emplace(of_rest, &phi).second : !step_of(phi)) return false;
  }
  return true;
}

bool Unrolled::find_test() {
  const ICmpInst* compare = nullptr;
  const auto predicate = asked(many_, many_, compare);
  if (!predicate) return false;
  for (const auto& [of_rest, of_many] : loops_.partners) {
    const auto step = step_of(*of_rest);
    const auto several = step_of(*of_many);
    const Value* next = of_many->getIncomingValueForBlock(many_);
    if (!step || !several || *step <= 0 || *several % *step != 0) continue;
    const bool is_first = compare->getOperand(0) == next;
    if (!is_first && compare->getOperand(1) != next) continue;
    bound_ = compare->getOperand(is_first ? 1 : 0);
    below_ = is_first ? *predicate : ICmpInst::getSwappedPredicate(*predicate);
    loops_.place = of_rest;
    loops_.start = of_rest->getIncomingValueForBlock(before_);
    loops_.middle = of_many->getIncomingValueForBlock(entry_);
    loops_.count = static_cast<unsigned>(*several / *step);
    loops_.is_signed = ICmpInst::isSigned(below_);
    const auto* instruction = dyn_cast<Instruction>(bound_);
    const bool is_early =
        !instruction || !is_contained({rest_, join_, entry_, many_}, instruction->getParent());
    return ICmpInst::isLT(below_) && loops_.count > 1 && is_early &&
           computeKnownBits(loops_.start, rest_->getModule()->getDataLayout()).isNonNegative();
  }
  return false;
}

// Whether `rest` counts down from ((bound - 1 - start) / step + 1) % count, and is left out for 0.
bool Unrolled::runs_all_rounds() {
  const ICmpInst* compare = nullptr;
  const auto again = asked(rest_, rest_, compare);
  const auto* left = again == ICmpInst::ICMP_NE && match(compare->getOperand(1), m_Zero())
                         ? dyn_cast<BinaryOperator>(compare->getOperand(0))
                         : nullptr;
  const auto* counter = left ? dyn_cast<PHINode>(left->getOperand(0)) : nullptr;
  if (!counter || counter->getParent() != rest_ || step_of(*counter) != -1 ||
      counter->getIncomingValueForBlock(rest_) != left)
    return false;
  rounds_ = counter->getIncomingValueForBlock(before_);
  const ICmpInst* skips = nullptr;
  if (asked(skip_, join_, skips) != ICmpInst::ICMP_EQ || skips->getOperand(0) != rounds_ ||
      !match(skips->getOperand(1), m_Zero()))
    return false;
  Value* all = nullptr;
  Value* distance = nullptr;
  const auto step = static_cast<uint64_t>(*step_of(*loops_.place));
  const uint64_t count = loops_.count;
  if (!isPowerOf2_64(count) ||
      !match(rounds_, m_And(m_Add(m_Value(all), m_One()), m_SpecificInt(count - 1))))
    return false;
  const bool is_quotient =
      match(all, m_UDiv(m_Value(distance), m_SpecificInt(step))) ||
      (isPowerOf2_64(step) && match(all, m_LShr(m_Value(distance), m_SpecificInt(Log2_64(step)))));
  if (!is_quotient) return false;
  UnrolledRounds sums(loops_);
  const auto found = sums.linear(distance);
  auto expected = sums.linear(bound_);
  const auto start = sums.linear(loops_.start);
  if (!found || !expected || !start) return false;
  expected->add(*start, ~uint64_t{0});
  expected->constant -= 1;
  return found == expected && starts_below();
}

// Whether a thread comes to the loops only where start is below bound.
bool Unrolled::starts_below() const {
  const DataLayout& layout = rest_->getModule()->getDataLayout();
  bool is_below = false;
  bool is_positive = false;  // the bound
  const auto learn = [&](const BasicBlock* from, const BasicBlock* to) {
    const ICmpInst* compare = nullptr;
    const auto predicate = asked(from, to, compare);
    if (!predicate || !is_contained(compare->operand_values(), bound_)) return;
    const bool is_second = compare->getOperand(1) == bound_;
    const Value* other = compare->getOperand(is_second ? 0 : 1);
    const auto holds = is_second ? *predicate : ICmpInst::getSwappedPredicate(*predicate);
    is_below |= ICmpInst::isLT(holds) && other == loops_.start;
    is_positive |= holds == ICmpInst::ICMP_SLT && computeKnownBits(other, layout).isNonNegative();
  };
  const DominatorTree dominators(*rest_->getParent());
  const auto* place = dominators.getNode(skip_);
  while (const auto* above = place ? place->getIDom() : nullptr) {
    for (const BasicBlock* to : successors(above->getBlock())) {
      if (dominators.dominates(BasicBlockEdge(above->getBlock(), to), skip_))
        learn(above->getBlock(), to);
    }
    place = above;
  }
  // With a bound below 2^31 both kinds of comparison are the same.
  return is_below && (!loops_.is_signed || is_positive);
}

bool Unrolled::computes_the_same() const {
  UnrolledRounds rounds(loops_);
  if (!rounds.are_the_same()) return false;
  // Each thread takes with it from `join` to `exit`, where `rest` has run all rounds, what it would
  // from `many`.
  for (const PHINode& phi : exit_->phis()) {
    const Value* last = phi.getIncomingValueForBlock(join_);
    const auto* joined = dyn_cast<PHINode>(last);
    if (joined && joined->getParent() == join_) last = joined->getIncomingValueForBlock(rest_);
    if (!rounds.is_same(phi.getIncomingValueForBlock(many_), last, loops_.count - 1)) return false;
  }
  const auto stays = [&](const BasicBlock* block) {
    return all_of(*block, [&](const Instruction& value) {
      return all_of(value.users(), [&](const User* user) {
        const auto* of = cast<Instruction>(user);
        return of->getParent() == many_ || of->getParent() == entry_ || of->getParent() == join_ ||
               (isa<PHINode>(of) && of->getParent() == exit_);
      });
    });
  };
  return stays(many_) && stays(join_) && stays(entry_);
}

void Unrolled::roll() {
  // What was known of a few rounds is not of all.
  for (Instruction& instruction : *rest_)
    instruction.dropPoisonGeneratingFlags();
  IRBuilder<> ir(rest_->getTerminator());
  Value* next = loops_.place->getIncomingValueForBlock(rest_);
  ir.CreateCondBr(ir.CreateICmp(below_, next, bound_), rest_, join_);
  rest_->getTerminator()->eraseFromParent();
  const auto go_to = [&](BasicBlock* from, BasicBlock* to, BasicBlock* not_to) {
    not_to->removePredecessor(from);
    Instruction* end = from->getTerminator();
    ir.SetInsertPoint(end);
    ir.CreateBr(to);
    end->eraseFromParent();
  };
  go_to(skip_, skip_ == before_ ? rest_ : before_, join_);
  go_to(join_, exit_, entry_ == join_ ? many_ : entry_);
  removeUnreachableBlocks(*rest_->getParent());
}

}  // namespace

bool roll_loops(Function& function) {
  bool changed = false;
  for (bool found = true; found; changed |= found) {
    found = false;
    for (BasicBlock& block : function) {
      if (!is_loop(&block)) continue;
      Unrolled loops(&block);
      if (!loops.find()) continue;
      LaneStrides strides(function);
      if (loops.is_shared(strides)) continue;
      loops.roll();
      found = true;
      break;
    }
  }
  return changed;
}

}  // namespace sluice::hostcuda::jit
