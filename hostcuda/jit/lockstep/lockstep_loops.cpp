#include "hostcuda/jit/lockstep/lockstep_loops.hpp"

#include <utility>
#include <vector>

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "hostcuda/jit/lockstep/lockstep_candidates.hpp"
#include "hostcuda/jit/lockstep/loop_way.hpp"
#include "hostcuda/jit/lockstep/uniform_ends.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/regions/early_values.hpp"
#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr unsigned least_lanes = 8;  // threads of a row, for the vectoriser to gain by

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
    const WayFinder ways(function_, loops_, dominators_, uniformity_);
    for (Loop* loop : loops_.getLoopsInPreorder()) {
      if (is_done(*loop) || !is_lockstep_candidate(*loop)) continue;
      Way way;
      if (!ways.find(*loop, WayFinder::Ends::leave, way)) continue;
      const bool all_go_round =
          way.edges.empty() && uniformity_.has_uniform_branch(*loop->getLoopLatch());
      // Where some wait anyhow, those that would end wait too: then no later loop over threads has
      // to ask who is left. That is worth more than to know that all end together.
      Way waiting;
      const bool others_wait = ways.find(*loop, WayFinder::Ends::wait, waiting);
      const bool is_better_waited_for =
          loop->getLoopLatch()->getTerminator()->hasMetadata(shared_end) && others_wait &&
          !waiting.edges.empty();
      if (all_go_round && !is_better_waited_for) {
        meet_each_round(*loop);
        return true;
      }
      wait_for_all(*loop, others_wait ? waiting : way);
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

  static void meet_each_round(const Loop& loop) {
    IRBuilder<> ir(loop.getLoopLatch()->getTerminator());
    call_lockstep(ir);
  }

  // Computes early what costs little, so that values all threads share are not lost to those that
  // did not come by.
  void hoist(const Way& way) {
    Instruction* place = way.top->getTerminator();
    for (BasicBlock* block : depth_first(way.top)) {
      if (!way.blocks.contains(block) || block == way.top) continue;
      for (Instruction& instruction : make_early_inc_range(*block)) {
        if (can_be_computed_at(instruction, *place, dominators_)) instruction.moveBefore(place);
      }
    }
  }

  // Puts every value that crosses blocks into memory of its thread, zero at first. A phi becomes a
  // load, which may cross blocks itself.
  std::vector<AllocaInst*> demote_values() {
    std::vector<PHINode*> phis;
    for (Instruction& instruction : instructions(function_)) {
      if (auto* phi = dyn_cast<PHINode>(&instruction)) phis.push_back(phi);
    }
    std::vector<AllocaInst*> variables;
    for (PHINode* phi : phis)
      variables.push_back(DemotePHIToStack(phi));
    std::vector<Instruction*> crossing;
    for (Instruction& instruction : instructions(function_)) {
      if (isa<AllocaInst>(instruction) && instruction.getParent() == &function_.getEntryBlock())
        continue;
      const bool crosses = any_of(instruction.users(), [&](const User* user) {
        return cast<Instruction>(user)->getParent() != instruction.getParent();
      });
      if (crosses) crossing.push_back(&instruction);
    }
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

  // FreeInduction is a loop's variable that grows by the same in each round and that nobody reads
  // after the loop: it may go on growing for threads that have left, and so stays the same distance
  // apart in neighbouring threads.
  struct FreeInduction {
    AllocaInst* current = nullptr;
    AllocaInst* next = nullptr;
    AllocaInst* step = nullptr;
  };

  std::vector<FreeInduction> free_inductions(const Loop& loop, const Way& way,
                                             std::vector<AllocaInst*>& variables) {
    BasicBlock* header = loop.getHeader();
    Instruction* place = (way.top ? way.top : loop.getLoopPreheader())->getTerminator();
    const auto is_there = [&](Value* value) {
      auto* instruction = dyn_cast<Instruction>(value);
      return !instruction || dominators_.dominates(instruction, place);
    };
    const auto is_used_inside = [&](const Instruction& value) {
      return all_of(value.users(),
                    [&](const User* user) { return loop.contains(cast<Instruction>(user)); });
    };
    std::vector<FreeInduction> found;
    for (PHINode& phi : make_early_inc_range(header->phis())) {
      Value* start = phi.getIncomingValueForBlock(loop.getLoopPreheader());
      auto* next = dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
      if (!next || next->getOpcode() != Instruction::Add) continue;
      if (next->getOperand(0) != &phi && next->getOperand(1) != &phi) continue;
      Value* step = next->getOperand(next->getOperand(0) == &phi ? 1 : 0);
      if (!is_there(start) || !is_there(step) || !is_used_inside(phi) || !is_used_inside(*next)) {
        continue;
      }
      IRBuilder<> ir(&function_.getEntryBlock(), function_.getEntryBlock().begin());
      const auto make = [&] { return ir.CreateAlloca(phi.getType(), nullptr, "lockstep.free"); };
      const FreeInduction induction{make(), make(), make()};
      variables.insert(variables.end(), {induction.current, induction.next, induction.step});
      ir.SetInsertPoint(place);
      ir.CreateStore(start, induction.current);
      ir.CreateStore(step, induction.step);
      ir.SetInsertPoint(header, header->getFirstInsertionPt());
      Value* current = ir.CreateLoad(phi.getType(), induction.current);
      Value* after = ir.CreateLoad(phi.getType(), induction.next);
      phi.replaceAllUsesWith(current);
      next->replaceAllUsesWith(after);
      phi.eraseFromParent();
      next->eraseFromParent();
      found.push_back(induction);
    }
    return found;
  }

  static void advance(const FreeInduction& induction, BasicBlock* head, BasicBlock* tail) {
    Type* type = induction.current->getAllocatedType();
    IRBuilder<> ir(head, head->begin());
    Value* current = ir.CreateLoad(type, induction.current);
    ir.CreateStore(ir.CreateAdd(current, ir.CreateLoad(type, induction.step)), induction.next);
    ir.SetInsertPoint(tail, tail->begin());
    ir.CreateStore(ir.CreateLoad(type, induction.next), induction.current);
  }

  // Result is a variable read behind a loop that is what another one is after the last round.
  struct Result {
    AllocaInst* behind = nullptr;
    AllocaInst* inside = nullptr;
  };

  // take_results() takes out of the loop's last block what writes such variables in each round: a
  // thread that has been through the loop may as well write them once, behind it.
  static std::vector<Result> take_results(const Loop& loop) {
    DenseMap<Value*, AllocaInst*> inside;  // what the loop leaves in variables that it reads
    std::vector<StoreInst*> others;
    for (Instruction& instruction : *loop.getLoopLatch()) {
      auto* store = dyn_cast<StoreInst>(&instruction);
      auto* variable = store ? dyn_cast<AllocaInst>(store->getPointerOperand()) : nullptr;
      if (!variable) continue;
      const bool is_read = any_of(variable->users(), [&](const User* user) {
        return isa<LoadInst>(user) && loop.contains(cast<Instruction>(user));
      });
      if (is_read) {
        inside[store->getValueOperand()] = variable;
      } else {
        others.push_back(store);
      }
    }
    std::vector<Result> results;
    for (StoreInst* store : others) {
      AllocaInst* variable = inside.lookup(store->getValueOperand());
      if (!variable) continue;
      results.push_back({cast<AllocaInst>(store->getPointerOperand()), variable});
      store->eraseFromParent();
    }
    return results;
  }

  // end_of() is where a block leads that does nothing but to go on. No block has phis any more.
  static BasicBlock* end_of(BasicBlock* block) {
    SmallPtrSet<BasicBlock*, 4> seen;
    while (seen.insert(block).second && block->getUniqueSuccessor() &&
           &block->front() == block->getTerminator())
      block = block->getUniqueSuccessor();
    return block;
  }

  // All threads come to `gate`, each with the number of where it goes after the loop: 0 for those
  // that run the loop, 1 and on for the edges. They go round until nobody is left inside.
  void wait_for_all(const Loop& loop, const Way& way) {
    if (way.top) hoist(way);
    BasicBlock* header = loop.getHeader();
    BasicBlock* before = loop.getLoopPreheader();
    BasicBlock* exit = loop.getExitBlock();
    std::vector<AllocaInst*> variables;
    const std::vector<FreeInduction> free = free_inductions(loop, way, variables);
    formLCSSA(const_cast<Loop&>(loop), dominators_, &loops_, nullptr);
    for (AllocaInst* variable : demote_values())
      variables.push_back(variable);
    const std::vector<Result> results = take_results(loop);
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
    arrive(before, header, 0);
    for (size_t i = 0; i < way.edges.size(); ++i)
      arrive(way.edges[i].first, way.edges[i].second, static_cast<unsigned>(i + 1));
    ir.SetInsertPoint(gate);
    ir.CreateBr(head);
    ir.SetInsertPoint(head);
    ir.CreateCondBr(ir.CreateLoad(ir.getInt1Ty(), active), header, tail)
        ->setMetadata(lockstep_head, MDNode::get(context, {}));

    Instruction* end = loop.getLoopLatch()->getTerminator();
    ir.SetInsertPoint(end);
    Value* again = end->getOperand(0);
    if (end->getSuccessor(0) != header) again = ir.CreateNot(again);
    ir.CreateStore(again, active);
    ir.CreateBr(tail);
    end->eraseFromParent();

    ir.SetInsertPoint(tail);
    ir.CreateCondBr(call_lockstep(ir, ir.CreateLoad(ir.getInt1Ty(), active)), head, leave);
    ir.SetInsertPoint(leave);
    if (results.empty() &&
        all_of(way.edges, [&](const auto& edge) { return end_of(edge.second) == end_of(exit); })) {
      ir.CreateBr(exit);
    } else {
      BasicBlock* through = make("lockstep.through");
      SwitchInst* next = ir.CreateSwitch(ir.CreateLoad(ir.getInt32Ty(), target), through);
      ir.SetInsertPoint(through);
      for (const Result& result : results)
        ir.CreateStore(ir.CreateLoad(result.inside->getAllocatedType(), result.inside),
                       result.behind);
      ir.CreateBr(exit);
      for (size_t i = 0; i < way.edges.size(); ++i)
        next->addCase(ir.getInt32(static_cast<uint32_t>(i + 1)), way.edges[i].second);
    }
    for (const FreeInduction& induction : free)
      advance(induction, head, tail);
    promote(variables);
  }

  Function& function_;
  DominatorTree dominators_;
  LoopInfo loops_;
  Uniformity uniformity_;
};

}  // namespace

bool make_lockstep_loops(Function& function, const Dim3& block) {
  if (block.x < least_lanes) return false;
  mark_near_accesses(function);
  make_ends_uniform(function, block);
  bool changed = false;
  while (Rewriter(function).run())
    changed = true;
  return changed;
}

}  // namespace sluice::hostcuda::jit
