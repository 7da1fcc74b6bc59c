#include "hostcuda/jit/vectors/whole_vectors.hpp"

#include <algorithm>
#include <optional>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"
#include "hostcuda/jit/stretches/shared_loads.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using Ir = IRBuilder<>;

// A longer body has more to do than its accesses, and would be compiled twice.
constexpr unsigned most_instructions = 200;
constexpr const char* cut_option = "sluice.loop.cut";

uint64_t bytes_of(const Type* type) {
  return type->getPrimitiveSizeInBits().getFixedValue() / 8;
}

// VectorShape is what the vectoriser is likely to make of a loop.
struct VectorShape {
  const SCEV* place = nullptr;  // where round 0 stores, and each round right behind the one before
  uint64_t element_bytes = 0;   // of what is stored there
  uint64_t lanes = 0;
};

class ShapeReader {
 public:
  ShapeReader(const CountedLoop& loop, ScalarEvolution& evolution,
              const TargetTransformInfo& target)
      : loop_(loop), evolution_(evolution), target_(target) {}

  std::optional<VectorShape> read() {
    uint64_t widest = 1;
    if (!collect_accesses() || accesses_.empty()) return std::nullopt;
    for (Instruction* access : accesses_) {
      widest = std::max(widest, bytes_of(getLoadStoreType(access)));
    }
    const TypeSize bits = target_.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector);
    shape_.lanes = bits.getFixedValue() / 8 / widest;
    if (shape_.lanes < 2 || !isPowerOf2_64(shape_.lanes)) return std::nullopt;
    for (Instruction* access : accesses_) {
      if (!is_masked_cheaply(*access)) return std::nullopt;
      if (auto* store = dyn_cast<StoreInst>(access); store && shape_.place == nullptr) take(*store);
    }
    // Where no round is left over the first one nearly always stores to an aligned place.
    if (shape_.place == nullptr ||
        evolution_.getSmallConstantTripMultiple(loop_.loop) % shape_.lanes == 0)
      return std::nullopt;
    return shape_;
  }

 private:
  bool collect_accesses() {
    unsigned instructions = 0;
    for (BasicBlock* block : loop_.loop->blocks()) {
      for (Instruction& instruction : *block) {
        if (++instructions > most_instructions) return false;
        if (isa<LoadInst, StoreInst>(instruction)) {
          const Type* type = getLoadStoreType(&instruction);
          if (!type->isIntegerTy() && !type->isFloatingPointTy()) return false;
          if (!isPowerOf2_64(bytes_of(type)) || instruction.isAtomic() || instruction.isVolatile())
            return false;
          accesses_.push_back(&instruction);
        } else if (const auto* call = dyn_cast<CallBase>(&instruction)) {
          if (!isTriviallyVectorizable(call->getIntrinsicID())) return false;
        } else if (instruction.mayHaveSideEffects()) {
          return false;
        }
      }
    }
    return true;
  }

  bool is_masked_cheaply(Instruction& access) const {
    auto* vector = FixedVectorType::get(getLoadStoreType(&access), shape_.lanes);
    const Align align = getLoadStoreAlignment(&access);
    const bool is_legal = isa<StoreInst>(access) ? target_.isLegalMaskedStore(vector, align)
                                                 : target_.isLegalMaskedLoad(vector, align);
    const unsigned opcode = access.getOpcode();
    const unsigned space = getLoadStoreAddressSpace(&access);
    const auto kind = TargetTransformInfo::TCK_RecipThroughput;
    return is_legal && target_.getMaskedMemoryOpCost(opcode, vector, align, space, kind) <=
                           2 * target_.getMemoryOpCost(opcode, vector, align, space, kind);
  }

  void take(StoreInst& store) {
    const uint64_t bytes = bytes_of(store.getValueOperand()->getType());
    shape_.place = loop_.start_of(store.getPointerOperand(), bytes, evolution_);
    shape_.element_bytes = bytes;
  }

  const CountedLoop& loop_;
  ScalarEvolution& evolution_;
  const TargetTransformInfo& target_;
  SmallVector<Instruction*, 16> accesses_;
  VectorShape shape_;
};

// Rounds are those of the loop as it was, counted from 0 in 64 bits.
struct Rounds {
  Value* count = nullptr;
  Value* head = nullptr;  // in front of the first aligned place, or all where they are few
};

Rounds count_rounds(const CountedLoop& loop, const VectorShape& shape, ScalarEvolution& evolution,
                    Instruction* place) {
  SCEVExpander expander(evolution, loop.header->getDataLayout(), "whole");
  Value* last = expander.expandCodeFor(loop.last_round, loop.last_round->getType(), place);
  Value* address = expander.expandCodeFor(shape.place, shape.place->getType(), place);
  Ir ir(place);
  Type* i64 = ir.getInt64Ty();
  // Where no round comes to the store its place may be poison.
  address = ir.CreateFreeze(address);
  if (address->getType()->isPointerTy()) address = ir.CreatePtrToInt(address, i64);
  Rounds rounds;
  rounds.count = ir.CreateAdd(ir.CreateZExtOrTrunc(last, i64), ir.getInt64(1), "count");
  Value* bytes = ir.CreateAnd(ir.CreateNeg(address), shape.lanes * shape.element_bytes - 1);
  Value* head = ir.CreateLShr(bytes, Log2_64(shape.element_bytes));
  Value* is_few = ir.CreateICmpULE(rounds.count, ir.getInt64(shape.lanes));
  rounds.head = ir.CreateSelect(is_few, rounds.count, head, "head");
  return rounds;
}

// Rounds run one after the other anyway, so more than one vector at a time brings nothing but
// rounds left over.
void set_options(const CountedLoop& loop, bool is_masked) {
  LLVMContext& context = loop.header->getContext();
  const auto option = [&](const char* name, ConstantInt* value) {
    return MDNode::get(context, {MDString::get(context, name), ConstantAsMetadata::get(value)});
  };
  SmallVector<MDNode*, 3> options = {
      MDNode::get(context, {MDString::get(context, cut_option)}),
      option("llvm.loop.interleave.count", ConstantInt::get(Type::getInt32Ty(context), 1))};
  if (is_masked) {
    options.push_back(
        option("llvm.loop.vectorize.predicate.enable", ConstantInt::getTrue(context)));
  }
  Instruction* back = loop.latch->getTerminator();
  MDNode* old = back->getMetadata(LLVMContext::MD_loop);
  back->setMetadata(LLVMContext::MD_loop,
                    makePostTransformationMetadata(context, old, {}, options));
}

struct MaskedLoop {
  CountedLoop loop;
  BasicBlock* before = nullptr;
};

MaskedLoop clone(const CountedLoop& loop, LoopInfo& loops, DominatorTree& dominators) {
  BasicBlock* before = loop.loop->getLoopPreheader();
  ValueToValueMapTy map;
  SmallVector<BasicBlock*, 8> blocks;
  Loop* cloned = cloneLoopWithPreheader(loop.header, before, loop.loop, map, ".masked", &loops,
                                        &dominators, blocks);
  remapInstructionsInBlocks(blocks, map);
  MaskedLoop masked{loop, cast<BasicBlock>(map[before])};
  masked.loop.loop = cloned;
  masked.loop.header = cast<BasicBlock>(map[loop.header]);
  masked.loop.latch = cast<BasicBlock>(map[loop.latch]);
  masked.loop.index = cast<PHINode>(map[loop.index]);
  masked.loop.next = cast<Instruction>(map[loop.next]);
  return masked;
}

// cut() makes of the loop two in a third, which has one round or two:
//   from, to = 0, head
//   do
//     with a mask: [from, to)
//     whole vectors: [to, end), as many as there are
//     from, to = end, count
//   while from < count
void cut(const CountedLoop& loop, const VectorShape& shape, ScalarEvolution& evolution,
         LoopInfo& loops, DominatorTree& dominators) {
  BasicBlock* before = loop.loop->getLoopPreheader();
  const auto block = [&](const char* name) {
    return BasicBlock::Create(before->getContext(), name, before->getParent(), loop.header);
  };
  const Rounds rounds = count_rounds(loop, shape, evolution, before->getTerminator());
  SharedLoads shared(loop, evolution);
  shared.expand(evolution, before->getTerminator());
  // An empty one, as the clone has a copy of it.
  before = SplitBlock(before, before->getTerminator(), &dominators, &loops);
  const MaskedLoop masked = clone(loop, loops, dominators);
  BasicBlock* part = block("part");
  BasicBlock* whole = block("whole");
  BasicBlock* whole_enter = block("whole.enter");
  BasicBlock* part_ends = block("part.ends");
  Value* index = loop.index->getIncomingValueForBlock(before);
  const auto index_at = [&](Ir& ir, Value* round) {
    return ir.CreateAdd(index, ir.CreateZExtOrTrunc(round, index->getType()));
  };
  before->getTerminator()->replaceSuccessorWith(loop.header, part);

  Ir ir(part);
  PHINode* from = ir.CreatePHI(ir.getInt64Ty(), 2, "from");
  PHINode* to = ir.CreatePHI(ir.getInt64Ty(), 2, "to");
  ir.CreateCondBr(ir.CreateICmpULT(from, to), masked.before, whole);
  ir.SetInsertPoint(masked.before->getTerminator());
  masked.loop.run_between(masked.before, index_at(ir, from), index_at(ir, to), whole);

  ir.SetInsertPoint(whole);
  // As a multiple of the lanes, so that the vectoriser knows that no round is left over.
  Value* vectors = ir.CreateLShr(ir.CreateSub(rounds.count, to), Log2_64(shape.lanes));
  Value* taken = ir.CreateShl(vectors, Log2_64(shape.lanes), "", true, true);
  Value* end = ir.CreateAdd(to, taken, "end");
  ir.CreateCondBr(ir.CreateICmpNE(vectors, ir.getInt64(0)), whole_enter, part_ends);
  ir.SetInsertPoint(whole_enter);
  Value* first = index_at(ir, to);
  Value* last = ir.CreateAdd(first, ir.CreateZExtOrTrunc(taken, index->getType()));
  ir.CreateBr(loop.header);
  loop.index->replaceIncomingBlockWith(before, whole_enter);
  loop.run_between(whole_enter, first, last, part_ends);
  shared.take_over(loop, whole_enter, to, index);

  ir.SetInsertPoint(part_ends);
  ir.CreateCondBr(ir.CreateICmpULT(end, rounds.count), part, loop.exit);
  loop.exit->replacePhiUsesWith(loop.latch, part_ends);
  from->addIncoming(ir.getInt64(0), before);
  to->addIncoming(rounds.head, before);
  from->addIncoming(end, part_ends);
  to->addIncoming(rounds.count, part_ends);
  set_options(masked.loop, true);
  set_options(loop, false);
}

}  // namespace

PreservedAnalyses WholeVectorsPass::run(Function& function, FunctionAnalysisManager& analyses) {
  return change_counted_loops(
      function, analyses, {}, [&](const CountedLoop& loop, ScalarEvolution& evolution) {
        if (findOptionMDForLoop(loop.loop, cut_option) != nullptr) return false;
        const auto& target = analyses.getResult<TargetIRAnalysis>(function);
        const std::optional<VectorShape> shape = ShapeReader(loop, evolution, target).read();
        if (!shape) return false;
        cut(loop, *shape, evolution, analyses.getResult<LoopAnalysis>(function),
            analyses.getResult<DominatorTreeAnalysis>(function));
        return true;
      });
}

}  // namespace sluice::hostcuda::jit
