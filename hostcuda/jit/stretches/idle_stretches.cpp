#include "hostcuda/jit/stretches/idle_stretches.hpp"

#include <optional>

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"
#include "hostcuda/jit/stretches/thread_guard.hpp"
#include "hostcuda/jit/threads/thread_loops.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using Ir = IRBuilder<>;

// Threads: a byte of each fills a vector, or two.
constexpr uint64_t asked_at_once = 64;
constexpr unsigned most_questions = 3;  // blocks, one behind the other
constexpr unsigned deepest = 6;         // operations of a question

constexpr const char* asked_option = "sluice.asked";  // of loops that have been changed

// Question is a block at whose end threads that have no work go to the loop's end.
struct Question {
  BasicBlock* block = nullptr;
  bool wanted = false;  // what its condition is where there may be work
};

// questions_of() are those with which each round begins.
SmallVector<Question, most_questions> questions_of(const CountedLoop& loop) {
  SmallVector<Question, most_questions> found;
  if (loop.header == loop.latch || isa<PHINode>(loop.latch->front()) || !does_nothing(*loop.latch))
    return found;
  BasicBlock* block = loop.header;
  while (found.size() < most_questions && does_nothing(*block) &&
         (block == loop.header || block->getSinglePredecessor())) {
    const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || block == loop.latch) break;
    if (branch->isUnconditional()) {
      block = branch->getSuccessor(0);
      continue;
    }
    const bool wanted = branch->getSuccessor(1) == loop.latch;
    BasicBlock* work = branch->getSuccessor(wanted ? 0 : 1);
    if ((!wanted && branch->getSuccessor(0) != loop.latch) || work == loop.latch) break;
    found.push_back({block, wanted});
    block = work;
  }
  return found;
}

// is_dear() is whether LLVM makes no good vectors of what a round does where it has work.
bool is_dear(const CountedLoop& loop, ArrayRef<Question> questions, ScalarEvolution& evolution) {
  if (!loop.loop->isInnermost()) return true;
  const auto is_asked = [&](const BasicBlock* block) {
    return any_of(questions, [&](const Question& each) { return each.block == block; });
  };
  for (BasicBlock* block : loop.loop->blocks()) {
    if (is_asked(block)) continue;
    for (Instruction& instruction : *block) {
      Value* pointer = getLoadStorePointerOperand(&instruction);
      if (!pointer || loop.loop->isLoopInvariant(pointer)) continue;
      const auto* place = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(pointer));
      if (!place || place->getLoop() != loop.loop || !place->isAffine()) return true;
    }
  }
  return false;
}

// Asker computes questions for 64 rounds at once.
class Asker {
 public:
  Asker(const CountedLoop& loop, ScalarEvolution& evolution)
      : loop_(loop), evolution_(evolution), expander_(evolution, layout(), "asked") {}

  // can_ask() finds out what of a condition can be asked so: all of it, or some of what must hold
  // together.
  enum class Part { none, some, all };
  Part can_ask(Value* condition, bool wanted);

  // expand() computes in front of the loop what places of memory begin with, and returns the index
  // behind the last round's.
  Value* expand(Instruction* place);

  // ask() is a vector of whether each of the rounds from `first` on is let through by what
  // can_ask() has found of the condition; null where that is nothing.
  Value* ask(Ir& ir, Value* condition, bool wanted, Value* first);

 private:
  const DataLayout& layout() const { return loop_.header->getDataLayout(); }
  bool can_compute(Value* value, unsigned depth);
  Value* compute(Ir& ir, Value* value, Value* first);

  const CountedLoop& loop_;
  ScalarEvolution& evolution_;
  SCEVExpander expander_;
  // Where round 0 reads, and its value in front of the loop.
  struct Place {
    const SCEV* start = nullptr;
    Value* value = nullptr;
  };
  MapVector<const LoadInst*, Place> places_;
  SmallPtrSet<const Value*, 4> asked_;  // what can_ask() has found
  Value* from_ = nullptr;               // the index of round 0
};

Asker::Part Asker::can_ask(Value* condition, bool wanted) {
  Value* a = nullptr;
  Value* b = nullptr;
  if (is_both(condition, wanted, a, b)) {
    const Part first = can_ask(a, wanted), second = can_ask(b, wanted);
    return first == second ? first : Part::some;
  }
  if (!can_compute(condition, 0)) return Part::none;
  asked_.insert(condition);
  return Part::all;
}

bool Asker::can_compute(Value* value, unsigned depth) {
  if (loop_.loop->isLoopInvariant(value) || value == loop_.index) return true;
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction || depth == deepest || instruction->getType()->isVectorTy()) return false;
  if (auto* load = dyn_cast<LoadInst>(instruction)) {
    if (!load->isSimple() || !load->getType()->isIntegerTy()) return false;
    const uint64_t bytes = layout().getTypeStoreSize(load->getType());
    const SCEV* start = layout().typeSizeEqualsStoreSize(load->getType())
                            ? loop_.start_of(load->getPointerOperand(), bytes, evolution_)
                            : nullptr;
    if (start) places_[load].start = start;
    return start != nullptr;
  }
  const bool is_simple =
      isa<ICmpInst, ZExtInst, SExtInst, TruncInst>(instruction) ||
      is_contained({Instruction::Add, Instruction::Sub, Instruction::And, Instruction::Or,
                    Instruction::Xor, Instruction::Shl, Instruction::LShr, Instruction::AShr},
                   instruction->getOpcode());
  return is_simple && all_of(instruction->operands(),
                             [&](Value* operand) { return can_compute(operand, depth + 1); });
}

// What no round might have come to may be poison, so it is frozen.
Value* Asker::expand(Instruction* place) {
  for (auto& [load, where] : places_) {
    Value* expanded = expander_.expandCodeFor(where.start, where.start->getType(), place);
    where.value = Ir(place).CreateFreeze(expanded);
  }
  Value* last = expander_.expandCodeFor(loop_.last_round, loop_.last_round->getType(), place);
  from_ = loop_.index->getIncomingValueForBlock(place->getParent());
  Ir ir(place);
  Value* rounds = ir.CreateAdd(ir.CreateZExtOrTrunc(last, from_->getType()),
                               ConstantInt::get(from_->getType(), 1));
  return ir.CreateAdd(from_, rounds);
}

Value* Asker::ask(Ir& ir, Value* condition, bool wanted, Value* first) {
  Value* a = nullptr;
  Value* b = nullptr;
  if (is_both(condition, wanted, a, b)) {
    Value* left = ask(ir, a, wanted, first);
    Value* right = ask(ir, b, wanted, first);
    return left && right ? ir.CreateAnd(left, right) : left ? left : right;
  }
  if (!asked_.contains(condition)) return nullptr;
  // Behind a condition that does not hold, the next may be poison.
  Value* holds = ir.CreateFreeze(compute(ir, condition, first));
  return wanted ? holds : ir.CreateNot(holds);
}

Value* Asker::compute(Ir& ir, Value* value, Value* first) {
  if (loop_.loop->isLoopInvariant(value)) return ir.CreateVectorSplat(asked_at_once, value);
  auto* type = FixedVectorType::get(value->getType(), asked_at_once);
  if (value == loop_.index) {
    SmallVector<Constant*, asked_at_once> rounds;
    for (uint64_t i = 0; i < asked_at_once; ++i)
      rounds.push_back(ConstantInt::get(value->getType(), i));
    return ir.CreateAdd(ir.CreateVectorSplat(asked_at_once, first), ConstantVector::get(rounds));
  }
  auto* instruction = cast<Instruction>(value);
  if (auto* load = dyn_cast<LoadInst>(instruction)) {
    Value* round = ir.CreateZExtOrTrunc(ir.CreateSub(first, from_), ir.getInt64Ty());
    Value* place = ir.CreateGEP(load->getType(), places_.lookup(load).value, round);
    return ir.CreateAlignedLoad(type, place, load->getAlign());
  }
  SmallVector<Value*, 2> operands;
  for (Value* operand : instruction->operands())
    operands.push_back(compute(ir, operand, first));
  if (auto* compare = dyn_cast<ICmpInst>(instruction))
    return ir.CreateICmp(compare->getPredicate(), operands[0], operands[1]);
  if (auto* cast = dyn_cast<CastInst>(instruction))
    return ir.CreateCast(cast->getOpcode(), operands[0], type);
  // Without what is promised of them: threads that don't get there promise nothing.
  return ir.CreateBinOp(cast<BinaryOperator>(instruction)->getOpcode(), operands[0], operands[1]);
}

// leave_out() makes of the loop
//   for (first = from; first < end; first += 64)
//     if fewer than 64 rounds are left or one of them may have work: the loop, for these
void leave_out(const CountedLoop& loop, ArrayRef<Question> questions, Asker& asker) {
  LLVMContext& context = loop.header->getContext();
  const auto block = [&](const char* name) {
    return BasicBlock::Create(context, name, loop.header->getParent(), loop.header);
  };
  Type* type = loop.index->getType();
  BasicBlock* before = loop.loop->getLoopPreheader();
  BasicBlock* begin = block("ask");
  BasicBlock* ask = block("ask.first");
  BasicBlock* enter = block("ask.enter");
  BasicBlock* leave = block("ask.leave");
  Value* from = loop.index->getIncomingValueForBlock(before);
  Value* end = asker.expand(before->getTerminator());
  before->getTerminator()->replaceSuccessorWith(loop.header, begin);
  Ir ir(begin);
  PHINode* first = ir.CreatePHI(type, 2, "first");
  Value* next = ir.CreateAdd(first, ConstantInt::get(type, asked_at_once));
  Value* last = ir.CreateBinaryIntrinsic(Intrinsic::umin, next, end);
  ir.CreateCondBr(ir.CreateICmpULE(next, end), ask, enter);
  for (const Question& question : questions) {
    ir.SetInsertPoint(ask);
    const auto* branch = cast<BranchInst>(question.block->getTerminator());
    Value* let_through = asker.ask(ir, branch->getCondition(), question.wanted, first);
    BasicBlock* some = &question == &questions.back() ? enter : block("ask.some");
    ir.CreateCondBr(ir.CreateOrReduce(let_through), some, leave);
    if (some == enter) break;
    // The next may be asked of those only that have been let through.
    ir.SetInsertPoint(some);
    ask = block("ask.next");
    ir.CreateCondBr(ir.CreateAndReduce(let_through), ask, enter);
  }
  ir.SetInsertPoint(leave);
  ir.CreateCondBr(ir.CreateICmpULT(next, end), begin, loop.exit);
  first->addIncoming(from, before);
  first->addIncoming(next, leave);
  ir.SetInsertPoint(enter);
  ir.CreateBr(loop.header);
  loop.index->replaceIncomingBlockWith(before, enter);
  loop.run_between(enter, first, last, leave);
  loop.exit->replacePhiUsesWith(loop.latch, leave);
  addStringMetadataToLoop(loop.loop, asked_option);
}

bool ask_first(const CountedLoop& loop, ScalarEvolution& evolution) {
  if (findOptionMDForLoop(loop.loop, asked_option)) return false;
  const auto* last_round = dyn_cast<SCEVConstant>(loop.last_round);
  if (last_round && last_round->getAPInt().ult(asked_at_once - 1)) return false;
  SmallVector<Question, most_questions> questions = questions_of(loop);
  if (!is_dear(loop, questions, evolution)) return false;
  Asker asker(loop, evolution);
  bool asks_memory = false;
  for (size_t i = 0; i < questions.size(); ++i) {
    const auto* branch = cast<BranchInst>(questions[i].block->getTerminator());
    const Asker::Part part = asker.can_ask(branch->getCondition(), questions[i].wanted);
    if (part != Asker::Part::all) questions.truncate(part == Asker::Part::some ? i + 1 : i);
  }
  for (const Question& question : questions)
    asks_memory |=
        any_of(*question.block, [](const Instruction& each) { return isa<LoadInst>(each); });
  if (!asks_memory) return false;
  leave_out(loop, questions, asker);
  return true;
}

}  // namespace

PreservedAnalyses IdleStretchesPass::run(Function& function, FunctionAnalysisManager& analyses) {
  return change_counted_loops(function, analyses, CountedLoop::Kinds{.may_be_outer = true},
                              ask_first);
}

}  // namespace sluice::hostcuda::jit
