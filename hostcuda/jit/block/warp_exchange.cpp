#include "hostcuda/jit/block/warp_exchange.hpp"

#include <functional>
#include <numeric>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "base/assert.hpp"
#include "base/number/divide_up.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr uint64_t warp_lanes = 32;

bool is_shuffle(SyncOperation operation) {
  return operation >= SyncOperation::shuffle_up && operation <= SyncOperation::shuffle_index;
}

bool is_vote(SyncOperation operation) {
  return operation >= SyncOperation::vote_all && operation <= SyncOperation::vote_ballot;
}

SyncOperands operands_of(CallInst& call) {
  IRBuilder<> ir(&call);
  return sync_operands(call, ir);
}

// for_each_warp() emits a loop over the block's warps and leaves `ir` behind it.
void for_each_warp(IRBuilder<>& ir, uint64_t warps, const std::function<void(Value*)>& emit) {
  if (warps == 1) return emit(ir.getInt64(0));
  BasicBlock* before = ir.GetInsertBlock();
  Function* function = before->getParent();
  BasicBlock* body = BasicBlock::Create(ir.getContext(), "warp", function);
  BasicBlock* done = BasicBlock::Create(ir.getContext(), "warps.done", function);
  ir.CreateBr(body);
  ir.SetInsertPoint(body);
  PHINode* warp = ir.CreatePHI(ir.getInt64Ty(), 2, "warp");
  warp->addIncoming(ir.getInt64(0), before);
  emit(warp);
  Value* next = ir.CreateAdd(warp, ir.getInt64(1), "", true, true);
  warp->addIncoming(next, ir.GetInsertBlock());
  ir.CreateCondBr(ir.CreateICmpULT(next, ir.getInt64(warps)), body, done);
  ir.SetInsertPoint(done);
}

Value* lanes_set(IRBuilder<>& ir, Value* bytes) {
  Value* set = ir.CreateICmpNE(bytes, Constant::getNullValue(bytes->getType()));
  return ir.CreateBitCast(set, ir.getInt32Ty());
}

// reduction() is LLVM's intrinsic for one of redux.sync's operations, and what changes nothing.
std::pair<Intrinsic::ID, uint32_t> reduction(SyncOperation operation) {
  switch (operation) {
    case SyncOperation::reduce_add:
      return {Intrinsic::vector_reduce_add, 0};
    case SyncOperation::reduce_and:
      return {Intrinsic::vector_reduce_and, ~0U};
    case SyncOperation::reduce_or:
      return {Intrinsic::vector_reduce_or, 0};
    case SyncOperation::reduce_xor:
      return {Intrinsic::vector_reduce_xor, 0};
    case SyncOperation::reduce_min:
      return {Intrinsic::vector_reduce_smin, INT32_MAX};
    case SyncOperation::reduce_max:
      return {Intrinsic::vector_reduce_smax, static_cast<uint32_t>(INT32_MIN)};
    case SyncOperation::reduce_unsigned_min:
      return {Intrinsic::vector_reduce_umin, ~0U};
    default:
      return {Intrinsic::vector_reduce_umax, 0};
  }
}

// A vote's answer, of the lanes that take part and of those that said yes.
Value* vote(IRBuilder<>& ir, SyncOperation operation, Value* participants, Value* ballot) {
  Value* all = ir.CreateICmpEQ(ballot, participants);
  Value* none = ir.CreateIsNull(ballot);
  switch (operation) {
    case SyncOperation::vote_all:
      return ir.CreateZExt(all, ir.getInt32Ty());
    case SyncOperation::vote_any:
      return ir.CreateZExt(ir.CreateNot(none), ir.getInt32Ty());
    case SyncOperation::vote_uniform:
      return ir.CreateZExt(ir.CreateOr(all, none), ir.getInt32Ty());
    default:
      return ballot;
  }
}

}  // namespace

// Shuffle is the lanes' side of a shuffle: whom each asks, as PTX's pseudo-code has it.
struct WarpExchange::Shuffle {
  Value* asked = nullptr;   // 32 x i32: the lane that it asks, or itself where that is not inside
  Value* inside = nullptr;  // 32 x i1: of the segment
  Value* mask = nullptr;    // as written
};

WarpExchange::WarpExchange(BodyFrame& frame, ArrayRef<SyncPoint> points, uint64_t alive,
                           bool by_warps)
    : frame_(frame), threads_(frame.context.block.count()), alive_(alive) {
  if (none_of(points, takes)) return;
  IRBuilder<> ir(frame.entry, frame.entry->begin());
  for (ThreadArray* array : {&values_, &masks_, &asked_, &clamps_, &given_})
    *array = ThreadArray::make(frame, ir.getInt32Ty(), by_warps);
  for (ThreadArray* array : {&votes_, &insides_})
    *array = ThreadArray::make(frame, ir.getInt8Ty(), by_warps);
  if (by_warps) {
    answer_ = ir.CreateAlloca(ir.getInt32Ty(), nullptr, "answer");
  } else {
    answers_ = frame.layout.reserve(4 * divide_up(threads_, warp_lanes));
  }
}

bool WarpExchange::takes(const SyncPoint& point) {
  const SyncOperation operation = point.code.operation;
  if (operation == SyncOperation::warp_barrier || operation == SyncOperation::active_mask) {
    return true;
  }
  if (is_shuffle(operation)) return true;
  if (!is_vote(operation) && operation < SyncOperation::reduce_add) return false;
  return isa<Constant>(operands_of(*point.call).mask);
}

void WarpExchange::bring(CallInst& call, const ThreadLoops& loops) {
  IRBuilder<> ir(&call);
  const SyncOperands operands = sync_operands(call, ir);
  const auto keep = [&](Value* value, const ThreadArray& array) {
    if (value && !isa<Constant>(value)) ir.CreateStore(value, array.element(ir, loops));
  };
  const SyncOperation operation = operands.code.operation;
  if (is_vote(operation)) {
    ir.CreateStore(ir.CreateZExt(operands.value, ir.getInt8Ty()), votes_.element(ir, loops));
    return;
  }
  if (!operands.value) return;
  ir.CreateStore(operands.value, values_.element(ir, loops));
  if (!is_shuffle(operation)) return;
  keep(operands.mask, masks_);
  keep(operands.lane, asked_);
  keep(operands.clamp, clamps_);
}

// participants() are the lanes of a warp that come to the point, as bits.
Value* WarpExchange::participants(IRBuilder<>& ir, Value* warp) const {
  if (alive_ != 0) {
    auto* bytes = FixedVectorType::get(ir.getInt8Ty(), warp_lanes);
    return lanes_set(
        ir, ir.CreateAlignedLoad(bytes, frame_.element(ir, alive_, warp_lanes, warp), Align(32)));
  }
  const uint64_t left = threads_ % warp_lanes;
  if (left == 0) return ir.getInt32(~0U);
  Value* is_last = ir.CreateICmpEQ(warp, ir.getInt64(threads_ / warp_lanes));
  return ir.CreateSelect(is_last, ir.getInt32((1U << left) - 1), ir.getInt32(~0U));
}

// vector_of() is what a warp's lanes have in an array.
Value* WarpExchange::vector_of(IRBuilder<>& ir, const ThreadArray& array, Value* warp) const {
  return ir.CreateAlignedLoad(FixedVectorType::get(array.type(), warp_lanes), array.lanes(ir, warp),
                              Align(32));
}

// said() is a vote's or reduction's answer to one warp's lanes.
Value* WarpExchange::said(IRBuilder<>& ir, SyncOperation operation, Value* warp) const {
  Value* there = participants(ir, warp);
  if (operation == SyncOperation::active_mask) return there;
  if (is_vote(operation)) {
    Value* says = lanes_set(ir, vector_of(ir, votes_, warp));
    return vote(ir, operation, there, ir.CreateAnd(says, there));
  }
  const auto [intrinsic, nothing] = reduction(operation);
  Value* takes_part = ir.CreateBitCast(there, FixedVectorType::get(ir.getInt1Ty(), warp_lanes));
  Value* others = ir.CreateVectorSplat(warp_lanes, ir.getInt32(nothing));
  return ir.CreateUnaryIntrinsic(intrinsic,
                                 ir.CreateSelect(takes_part, vector_of(ir, values_, warp), others));
}

// operand() is what the lanes have as an operand of a shuffle.
Value* WarpExchange::operand(IRBuilder<>& ir, Value* written, const ThreadArray& array,
                             Value* warp) const {
  return isa<Constant>(written) ? ir.CreateVectorSplat(warp_lanes, written)
                                : vector_of(ir, array, warp);
}

void WarpExchange::ask(IRBuilder<>& ir, Shuffle& shuffle, const SyncPoint& point,
                       Value* warp) const {
  const SyncOperands operands = operands_of(*point.call);
  const auto all = [&](uint32_t value) {
    return ir.CreateVectorSplat(warp_lanes, ir.getInt32(value));
  };
  SmallVector<uint32_t, 32> numbers(warp_lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value* lane = ConstantDataVector::get(ir.getContext(), numbers);
  Value* offset = ir.CreateAnd(operand(ir, operands.lane, asked_, warp), all(31));
  Value* c = operand(ir, operands.clamp, clamps_, warp);
  Value* segment = ir.CreateAnd(ir.CreateLShr(c, all(8)), all(31));
  Value* lowest = ir.CreateAnd(lane, segment);
  Value* highest =
      ir.CreateOr(lowest, ir.CreateAnd(ir.CreateAnd(c, all(31)), ir.CreateNot(segment)));
  shuffle.mask = operands.mask;
  Value* asked = nullptr;
  switch (point.code.operation) {
    case SyncOperation::shuffle_up:
      asked = ir.CreateSub(lane, offset);
      break;
    case SyncOperation::shuffle_down:
      asked = ir.CreateAdd(lane, offset);
      break;
    case SyncOperation::shuffle_butterfly:
      asked = ir.CreateXor(lane, offset);
      break;
    default:
      asked = ir.CreateOr(lowest, ir.CreateAnd(offset, ir.CreateNot(segment)));
      break;
  }
  shuffle.inside = point.code.operation == SyncOperation::shuffle_up
                       ? ir.CreateICmpSGE(asked, highest)
                       : ir.CreateICmpULE(asked, highest);
  shuffle.asked = ir.CreateSelect(shuffle.inside, asked, lane);
}

// of_asked() is what the lanes that are asked have in an array: where these are known, a vector in
// another order.
Value* WarpExchange::of_asked(IRBuilder<>& ir, const ThreadArray& array, const Shuffle& shuffle,
                              Value* warp) const {
  if (const auto* known = dyn_cast<Constant>(shuffle.asked)) {
    SmallVector<int, 32> order;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      order.push_back(
          static_cast<int>(cast<ConstantInt>(known->getAggregateElement(lane))->getZExtValue()));
    return ir.CreateShuffleVector(vector_of(ir, array, warp), order);
  }
  auto* words = FixedVectorType::get(array.type(), warp_lanes);
  return ir.CreateMaskedGather(
      words, ir.CreateGEP(array.type(), array.lanes(ir, warp), shuffle.asked), Align(4));
}

// is_there() tells whether the lanes that are asked came to the point with the same mask; null
// where all do.
Value* WarpExchange::is_there(IRBuilder<>& ir, const Shuffle& shuffle, Value* warp) const {
  Value* there = nullptr;
  if (alive_ != 0 || threads_ % warp_lanes != 0) {
    Value* lanes = ir.CreateVectorSplat(warp_lanes, participants(ir, warp));
    there = ir.CreateTrunc(ir.CreateLShr(lanes, shuffle.asked),
                           FixedVectorType::get(ir.getInt1Ty(), warp_lanes));
  }
  if (isa<Constant>(shuffle.mask)) return there;
  Value* same = ir.CreateICmpEQ(of_asked(ir, masks_, shuffle, warp), vector_of(ir, masks_, warp));
  return there ? ir.CreateAnd(there, same) : same;
}

void WarpExchange::shuffle(IRBuilder<>& ir, const SyncPoint& point, Value* warp) const {
  Shuffle shuffle;
  ask(ir, shuffle, point, warp);
  Value* value = of_asked(ir, values_, shuffle, warp);
  // PTX leaves it open what comes from a lane that does not take part; a GPU gives 0.
  if (Value* there = is_there(ir, shuffle, warp))
    value = ir.CreateSelect(there, value, Constant::getNullValue(value->getType()));
  ir.CreateAlignedStore(value, given_.lanes(ir, warp), Align(32));
  if (!point.result || !point.result->getType()->isStructTy()) return;
  Value* inside = ir.CreateZExt(shuffle.inside, FixedVectorType::get(ir.getInt8Ty(), warp_lanes));
  ir.CreateAlignedStore(inside, insides_.lanes(ir, warp), Align(32));
}

// answer() is the place of what a warp is told.
Value* WarpExchange::answer(IRBuilder<>& ir, Value* warp) const {
  return answer_ ? answer_ : frame_.element(ir, answers_, 4, warp);
}

void WarpExchange::meet(IRBuilder<>& ir, const SyncPoint& point, Value* warp) {
  const SyncOperation operation = point.code.operation;
  if (operation == SyncOperation::warp_barrier) return;
  const auto meet_one = [&](Value* one) {
    if (is_shuffle(operation)) {
      shuffle(ir, point, one);
    } else {
      ir.CreateStore(said(ir, operation, one), answer(ir, one));
    }
  };
  if (warp) return meet_one(warp);
  for_each_warp(ir, divide_up(threads_, warp_lanes), meet_one);
}

void WarpExchange::give(CallInst& placeholder, const SyncPoint& point, const ThreadLoops& loops) {
  BasicBlock& block = *placeholder.getParent();
  IRBuilder<> ir(&placeholder);
  Value* result = nullptr;
  if (is_shuffle(point.code.operation)) {
    result = ir.CreateLoad(ir.getInt32Ty(), given_.element(ir, loops));
    if (placeholder.getType()->isStructTy()) {
      Value* inside = ir.CreateLoad(ir.getInt8Ty(), insides_.element(ir, loops));
      result = ir.CreateInsertValue(PoisonValue::get(placeholder.getType()), result, 0);
      result = ir.CreateInsertValue(result, ir.CreateIsNotNull(inside), 1);
    }
  } else {
    result = ir.CreateLoad(ir.getInt32Ty(), answer(ir, ir.CreateLShr(loops.linear, 5)));
    if (placeholder.getType()->isIntegerTy(1)) result = ir.CreateIsNotNull(result);
  }
  SLUICE_ASSERT(result->getType() == placeholder.getType());
  placeholder.replaceAllUsesWith(result);
  placeholder.eraseFromParent();
  mark_independent(block, loops);
}

}  // namespace sluice::hostcuda::jit
