#include "hostcuda/jit/lockstep_loops.hpp"

#include <vector>

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "hostcuda/jit/lane_strides.hpp"
#include "hostcuda/jit/sync_points.hpp"
#include "hostcuda/jit/uniformity.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr unsigned least_lanes = 8;  // threads of a row, for the vectoriser to gain by
constexpr unsigned most_instructions = 400;
constexpr unsigned most_phis = 16;     // each is loaded and stored in every round
constexpr unsigned most_copies = 400;  // instructions after which LLVM unrolls no further

// Whether the threads may run the instruction in any order among each other and LLVM can run it
// for several at once.
bool is_plain(const Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile() || isa<FenceInst>(instruction))
    return false;
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call) return true;
  auto* intrinsic = dyn_cast<IntrinsicInst>(call);
  return intrinsic && !is_sync_point(*call) && isTriviallyVectorizable(intrinsic->getIntrinsicID());
}

// Candidates finds what is worth it. Costs are guessed: right or wrong, the code computes the same.
class Candidates {
 public:
  explicit Candidates(Function& function) : strides_(function) {}

  bool contains(const Loop& loop) {
    if (!loop.isInnermost() || !loop.getLoopPreheader()) return false;
    BasicBlock* latch = loop.getLoopLatch();
    if (!latch || loop.getExitingBlock() != latch || !loop.getExitBlock()) return false;
    unsigned instructions = 0;
    unsigned accesses = 0;
    for (BasicBlock* block : loop.blocks()) {
      for (Instruction& instruction : *block) {
        if (!is_plain(instruction)) return false;
        ++instructions;
        if (getLoadStorePointerOperand(&instruction)) ++accesses;
        if (!is_near(instruction)) return false;
      }
    }
    const auto phis = static_cast<unsigned>(range_size(loop.getHeader()->phis()));
    return instructions <= most_instructions && phis <= most_phis && accesses > 0 &&
           !is_unrolled(loop, instructions);
  }

 private:
  // Whether neighbouring threads access neighbouring memory, or read the same.
  bool is_near(Instruction& instruction) {
    const Value* pointer = getLoadStorePointerOperand(&instruction);
    if (!pointer) return true;
    const auto stride = strides_.of(pointer);
    if (!stride) return false;
    const auto bytes = static_cast<int64_t>(
        instruction.getModule()->getDataLayout().getTypeStoreSize(getLoadStoreType(&instruction)));
    return *stride == bytes || (*stride == 0 && isa<LoadInst>(instruction));
  }

  // LLVM unrolls a short loop completely, and then the loop over threads is innermost anyhow.
  static bool is_unrolled(const Loop& loop, unsigned instructions) {
    auto* branch = dyn_cast<BranchInst>(loop.getLoopLatch()->getTerminator());
    auto* compare =
        branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    auto* bound = compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
    auto* next = compare ? dyn_cast<BinaryOperator>(compare->getOperand(0)) : nullptr;
    auto* step = next && next->getOpcode() == Instruction::Add
                     ? dyn_cast<ConstantInt>(next->getOperand(1))
                     : nullptr;
    auto* phi = step ? dyn_cast<PHINode>(next->getOperand(0)) : nullptr;
    if (!bound || !phi || phi->getParent() != loop.getHeader() || step->isZero()) return false;
    auto* start = dyn_cast<ConstantInt>(phi->getIncomingValueForBlock(loop.getLoopPreheader()));
    if (!start || bound->getBitWidth() > 64) return false;
    const int64_t rounds = (bound->getSExtValue() - start->getSExtValue()) / step->getSExtValue();
    return rounds >= 0 && rounds * instructions <= most_copies;
  }

  LaneStrides strides_;
};

// Way is how threads come to a loop: from `top`, where all are together, through `blocks`, which
// some leave by `edges` to elsewhere.
struct Way {
  BasicBlock* top = nullptr;
  SetVector<BasicBlock*> blocks;
  std::vector<std::pair<BasicBlock*, BasicBlock*>> edges;
};

class Rewriter {
 public:
  explicit Rewriter(Function& function)
      : function_(function),
        dominators_(function),
        loops_(dominators_),
        uniformity_(function, {}) {}

  // run() changes one loop, the first that is worth it and can be; false where there is none.
  bool run() {
    AssumptionCache assumptions(function_);
    for (Loop* loop : make_early_inc_range(loops_)) {
      simplifyLoop(loop, &dominators_, &loops_, nullptr, &assumptions, nullptr, false);
    }
    uniformity_ = Uniformity(function_, {});
    post_dominators_.recalculate(function_);
    Candidates candidates(function_);
    for (Loop* loop : loops_.getLoopsInPreorder()) {
      if (is_done(*loop) || !candidates.contains(*loop)) continue;
      Way way;
      if (!find_way(*loop, way)) continue;
      const bool all_go_round =
          way.edges.empty() && uniformity_.has_uniform_branch(*loop->getLoopLatch());
      if (all_go_round) {
        meet_each_round(*loop);
        return true;
      }
      if (loop->getNumBlocks() != 1) continue;
      wait_for_all(*loop, way);
      return true;
    }
    return false;
  }

 private:
  static bool is_done(const Loop& loop) {
    for (BasicBlock* block : loop.blocks()) {
      for (const Instruction& instruction : *block) {
        auto* call = dyn_cast<CallInst>(&instruction);
        if (call && is_lockstep(*call)) return true;
      }
    }
    return false;
  }

  CallInst* call_lockstep(IRBuilder<>& ir, Value* active) {
    Module& module = *function_.getParent();
    Type* result = active ? ir.getInt1Ty() : ir.getVoidTy();
    SmallVector<Type*, 1> types;
    SmallVector<Value*, 1> operands;
    if (active) {
      types.push_back(ir.getInt1Ty());
      operands.push_back(active);
    }
    FunctionCallee callee = module.getOrInsertFunction(active ? lockstep_any_name : lockstep_name,
                                                       FunctionType::get(result, types, false));
    cast<Function>(callee.getCallee())->addFnAttr(Attribute::Convergent);
    return ir.CreateCall(callee, operands);
  }

  void meet_each_round(const Loop& loop) {
    IRBuilder<> ir(loop.getLoopLatch()->getTerminator());
    call_lockstep(ir, nullptr);
  }

  bool only_ends(BasicBlock* start) const {
    SetVector<BasicBlock*> seen;
    seen.insert(start);
    for (size_t i = 0; i < seen.size(); ++i) {
      for (const Instruction& instruction : *seen[i]) {
        auto* call = dyn_cast<CallInst>(&instruction);
        if (call && is_sync_point(*call)) return false;
      }
      for (BasicBlock* next : successors(seen[i]))
        seen.insert(next);
    }
    return seen.size() < 64 &&
           none_of(seen, [&](BasicBlock* block) { return loops_.getLoopFor(block); });
  }

  // The divergent branches that decide who comes to the loop, and what lies between.
  bool find_way(const Loop& loop, Way& way) {
    BasicBlock* before = loop.getLoopPreheader();
    SetVector<BasicBlock*> deciders;
    std::vector<BasicBlock*> pending = {before};
    SetVector<BasicBlock*> seen;
    while (!pending.empty()) {
      BasicBlock* block = pending.back();
      pending.pop_back();
      if (!seen.insert(block)) continue;
      for (BasicBlock& decider : function_) {
        if (decider.getTerminator()->getNumSuccessors() < 2 || &decider == loop.getLoopLatch())
          continue;
        const bool decides =
            any_of(successors(&decider),
                   [&](BasicBlock* next) { return post_dominators_.dominates(block, next); }) &&
            !post_dominators_.properlyDominates(block, &decider);
        if (!decides) continue;
        pending.push_back(&decider);
        if (uniformity_.has_uniform_branch(decider)) continue;
        const bool others_end = all_of(successors(&decider), [&](BasicBlock* next) {
          return post_dominators_.dominates(block, next) || only_ends(next);
        });
        if (!others_end) deciders.insert(&decider);
      }
    }
    if (deciders.empty()) return true;
    way.top = before;
    for (BasicBlock* decider : deciders)
      way.top = dominators_.findNearestCommonDominator(way.top, decider);
    return way.top && collect(loop, way);
  }

  bool collect(const Loop& loop, Way& way) {
    Loop* around = loop.getParentLoop();
    way.blocks.insert(loop.getLoopPreheader());
    for (size_t i = 0; i < way.blocks.size(); ++i) {
      BasicBlock* block = way.blocks[i];
      if (loops_.getLoopFor(block) != around || way.blocks.size() > 64) return false;
      if (block == way.top) continue;
      for (BasicBlock* from : predecessors(block))
        way.blocks.insert(from);
    }
    if (!way.blocks.contains(way.top)) return false;
    for (BasicBlock* block : way.blocks) {
      for (const Instruction& instruction : *block) {
        auto* call = dyn_cast<CallInst>(&instruction);
        if (call && is_sync_point(*call) && block != way.top) return false;
      }
      for (BasicBlock* next : successors(block)) {
        if (way.blocks.contains(next) && next != way.top) continue;
        if (next == loop.getHeader() || only_ends(next)) continue;
        way.edges.push_back({block, next});
      }
    }
    return true;
  }

  // Computes early what costs little, so that values all threads share are not lost to those that
  // did not come by.
  void hoist(const Way& way) {
    Instruction* place = way.top->getTerminator();
    for (BasicBlock* block : depth_first(way.top)) {
      if (!way.blocks.contains(block) || block == way.top) continue;
      for (Instruction& instruction : make_early_inc_range(*block)) {
        const bool can_move = !isa<PHINode>(instruction) && !instruction.isTerminator() &&
                              !instruction.mayReadOrWriteMemory() &&
                              isSafeToSpeculativelyExecute(&instruction) &&
                              all_of(instruction.operands(), [&](const Use& operand) {
                                auto* value = dyn_cast<Instruction>(operand.get());
                                return !value || dominators_.dominates(value, place);
                              });
        if (can_move) instruction.moveBefore(place);
      }
    }
  }

  // Puts every value that crosses blocks into memory of its thread, zero at first.
  std::vector<AllocaInst*> demote_values() {
    std::vector<Instruction*> crossing;
    for (Instruction& instruction : instructions(function_)) {
      if (isa<AllocaInst>(instruction) && instruction.getParent() == &function_.getEntryBlock())
        continue;
      const bool crosses = any_of(instruction.users(), [&](const User* user) {
        auto* place = cast<Instruction>(user);
        return place->getParent() != instruction.getParent() || isa<PHINode>(place);
      });
      if (crosses && !isa<PHINode>(instruction)) crossing.push_back(&instruction);
    }
    std::vector<PHINode*> phis;
    for (Instruction& instruction : instructions(function_)) {
      if (auto* phi = dyn_cast<PHINode>(&instruction)) phis.push_back(phi);
    }
    std::vector<AllocaInst*> variables;
    for (PHINode* phi : phis)
      variables.push_back(DemotePHIToStack(phi));
    for (Instruction* value : crossing)
      variables.push_back(DemoteRegToStack(*value));
    std::erase(variables, nullptr);
    return variables;
  }

  void promote(ArrayRef<AllocaInst*> variables) {
    DominatorTree dominators(function_);
    for (AllocaInst* variable : variables) {
      IRBuilder<> ir(variable->getNextNode());
      ir.CreateStore(Constant::getNullValue(variable->getAllocatedType()), variable);
    }
    PromoteMemToReg(variables, dominators);
  }

  // All threads come to `gate`, each with the number of where it goes after the loop: 0 for those
  // that run the loop, 1 and on for the edges. They go round until nobody is left inside.
  void wait_for_all(const Loop& loop, const Way& way) {
    if (way.top) hoist(way);
    BasicBlock* body = loop.getHeader();
    BasicBlock* before = loop.getLoopPreheader();
    BasicBlock* exit = loop.getExitBlock();
    std::vector<AllocaInst*> variables = demote_values();
    LLVMContext& context = function_.getContext();
    IRBuilder<> ir(context);
    BasicBlock& entry = function_.getEntryBlock();
    ir.SetInsertPoint(&entry, entry.begin());
    AllocaInst* target = ir.CreateAlloca(ir.getInt32Ty(), nullptr, "lockstep.target");
    AllocaInst* active = ir.CreateAlloca(ir.getInt1Ty(), nullptr, "lockstep.active");
    variables.push_back(target);
    variables.push_back(active);

    const auto make = [&](const char* name) {
      return BasicBlock::Create(context, name, &function_);
    };
    BasicBlock* gate = make("lockstep.gate");
    BasicBlock* head = make("lockstep.head");
    BasicBlock* tail = make("lockstep.tail");
    BasicBlock* leave = make("lockstep.leave");

    const auto arrive = [&](BasicBlock* from, BasicBlock* to, unsigned number) {
      BasicBlock* edge = make("lockstep.edge");
      from->getTerminator()->replaceSuccessorWith(to, edge);
      ir.SetInsertPoint(edge);
      ir.CreateStore(ir.getInt32(number), target);
      ir.CreateStore(ir.getInt1(number == 0), active);
      ir.CreateBr(gate);
    };
    arrive(before, body, 0);
    for (size_t i = 0; i < way.edges.size(); ++i)
      arrive(way.edges[i].first, way.edges[i].second, static_cast<unsigned>(i + 1));
    ir.SetInsertPoint(gate);
    ir.CreateBr(head);
    ir.SetInsertPoint(head);
    ir.CreateCondBr(ir.CreateLoad(ir.getInt1Ty(), active), body, tail);

    Instruction* end = body->getTerminator();
    ir.SetInsertPoint(end);
    Value* again = end->getOperand(0);
    if (end->getSuccessor(0) != body) again = ir.CreateNot(again);
    ir.CreateStore(again, active);
    ir.CreateBr(tail);
    end->eraseFromParent();

    ir.SetInsertPoint(tail);
    ir.CreateCondBr(call_lockstep(ir, ir.CreateLoad(ir.getInt1Ty(), active)), head, leave);
    ir.SetInsertPoint(leave);
    if (way.edges.empty()) {
      ir.CreateBr(exit);
    } else {
      SwitchInst* next = ir.CreateSwitch(ir.CreateLoad(ir.getInt32Ty(), target), exit);
      for (size_t i = 0; i < way.edges.size(); ++i)
        next->addCase(ir.getInt32(static_cast<uint32_t>(i + 1)), way.edges[i].second);
    }
    promote(variables);
  }

  Function& function_;
  DominatorTree dominators_;
  LoopInfo loops_;
  PostDominatorTree post_dominators_;
  Uniformity uniformity_;
};

}  // namespace

bool make_lockstep_loops(Function& function, const Dim3& block) {
  if (block.x < least_lanes) return false;
  bool changed = false;
  while (Rewriter(function).run())
    changed = true;
  return changed;
}

}  // namespace sluice::hostcuda::jit
