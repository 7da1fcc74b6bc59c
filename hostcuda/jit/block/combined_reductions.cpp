#include "hostcuda/jit/block/combined_reductions.hpp"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "hostcuda/jit/library/directed_float.hpp"
#include "hostcuda/jit/lowering/special_registers.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// A histogram's bins; with their tags a third of the first-level cache.
constexpr uint64_t many_places = 1024;
// Where each addition has one address in the whole launch, as a sum's: a line of tags, which is
// soon cleared and looked through.
constexpr uint64_t few_places = 8;

// Of the additions that go to the table.
constexpr const char* mark = "sluice.reduction";

// Whether others than the block's threads can touch what lies there.
bool is_global(const Value* pointer, const Argument& shared) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, 0);
  return any_of(objects,
                [&](const Value* object) { return object != &shared && !isa<AllocaInst>(object); });
}

bool is_addition(const AtomicRMWInst& atomic) {
  const auto operation = atomic.getOperation();
  return (operation == AtomicRMWInst::Add || operation == AtomicRMWInst::FAdd) &&
         atomic.use_empty() && atomic.getOrdering() == AtomicOrdering::Monotonic &&
         !atomic.isVolatile();
}

// Whether a value is computed from constants, the origin and arguments from `first` on.
bool is_made_of(const Value* value, unsigned first) {
  if (isa<Constant>(value)) return true;
  if (const auto* argument = dyn_cast<Argument>(value)) {
    const unsigned number = argument->getArgNo();
    return number == ThreadFunction::origin || number >= first;
  }
  const auto* instruction = dyn_cast<Instruction>(value);
  return instruction && (isa<GetElementPtrInst, CastInst, BinaryOperator>(instruction)) &&
         all_of(instruction->operands(),
                [&](const Use& use) { return is_made_of(use.get(), first); });
}

// Whether all threads of a launch have the same value.
bool is_of_launch(const Value* value) {
  return is_made_of(value, ThreadFunction::first_parameter);
}

// Whether a thread has the same value in all blocks. Its place comes in front of the parameters.
bool is_of_thread(const Value* value) {
  return is_made_of(value, ThreadFunction::tid);
}

constexpr const char* own_addition = "sluice.own.addition";

// call_own_addition() has a call stand for the addition: of the address, what is added, and the
// thread's place.
void call_own_addition(AtomicRMWInst& atomic, const Dim3& block) {
  IRBuilder<> ir(&atomic);
  const auto callee = atomic.getModule()->getOrInsertFunction(
      own_addition,
      FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), atomic.getType(), ir.getInt32Ty()}, false));
  CallInst* call = ir.CreateCall(callee, {atomic.getPointerOperand(), atomic.getValOperand(),
                                          linear_thread(*atomic.getFunction(), block, ir)});
  call->setMetadata(plain_accesses, MDNode::get(ir.getContext(), {}));
  atomic.eraseFromParent();
}

// Whether the instruction touches global memory in a way that an addition may not come before.
bool touches(const Instruction& instruction, const Argument& shared) {
  if (const Value* pointer = getLoadStorePointerOperand(&instruction))
    return !instruction.hasMetadata(LLVMContext::MD_invariant_load) && is_global(pointer, shared);
  const auto* call = dyn_cast<CallInst>(&instruction);
  return call && !is_sync_point(*call) && !is_directed_float(*call) &&
         call->mayReadOrWriteMemory() && !instruction.isLifetimeStartOrEnd();
}

// Whether what the instruction does can't be put off: others may wait for it.
bool orders(const Instruction& instruction, const Argument& shared) {
  if (isa<FenceInst>(instruction)) return true;
  if (const auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return is_global(swap->getPointerOperand(), shared);
  const Value* pointer = getLoadStorePointerOperand(&instruction);
  return pointer && (instruction.isVolatile() || instruction.isAtomic()) &&
         is_global(pointer, shared);
}

bool is_touched_after(AtomicRMWInst& atomic, const Argument& shared) {
  const auto touching = [&](const Instruction& instruction) {
    return touches(instruction, shared);
  };
  BasicBlock* block = atomic.getParent();
  if (any_of(make_range(atomic.getIterator(), block->end()), touching)) return true;
  df_iterator_default_set<BasicBlock*> seen;
  for (BasicBlock* next : successors(block)) {
    for (BasicBlock* reached : depth_first_ext(next, seen)) {
      if (any_of(*reached, touching)) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Reductions> Reductions::find(Function& thread, const Dim3* block) {
  const Argument& shared = *thread.getArg(ThreadFunction::shared);
  std::optional<Reductions> found;
  SmallVector<AtomicRMWInst*, 4> marked;
  for (Instruction& instruction : instructions(thread)) {
    if (orders(instruction, shared)) return std::nullopt;
    auto* atomic = dyn_cast<AtomicRMWInst>(&instruction);
    if (!atomic || !is_global(atomic->getPointerOperand(), shared)) continue;
    if (!is_addition(*atomic) || is_touched_after(*atomic, shared)) return std::nullopt;
    if (!found) found = Reductions(atomic->getType(), atomic->getOperation(), few_places);
    if (!found->is_one(*atomic)) return std::nullopt;
    if (!is_of_launch(atomic->getPointerOperand())) found->places_ = many_places;
    marked.push_back(atomic);
  }
  if (block && marked.size() == 1 && !is_of_launch(marked[0]->getPointerOperand()) &&
      is_of_thread(marked[0]->getPointerOperand())) {
    found->places_ = block->count();
    call_own_addition(*marked[0], *block);
    return found;
  }
  for (AtomicRMWInst* atomic : marked)
    atomic->setMetadata(mark, MDNode::get(thread.getContext(), {}));
  return found;
}

bool Reductions::is_one(const AtomicRMWInst& atomic) const {
  return atomic.getType() == type_ && atomic.getOperation() == operation_;
}

void Reductions::reserve(BodyFrame& frame) {
  tags_ = frame.layout.reserve(8 * places_);
  sums_ = frame.layout.reserve(type_->getPrimitiveSizeInBits() / 8 * places_);
}

Value* Reductions::tag(IRBuilder<>& ir, Value* memory, Value* place) const {
  Value* tags = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), memory, tags_);
  return ir.CreateInBoundsGEP(ir.getInt64Ty(), tags, place);
}

Value* Reductions::sum(IRBuilder<>& ir, Value* memory, Value* place) const {
  Value* sums = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), memory, sums_);
  return ir.CreateInBoundsGEP(type_, sums, place);
}

void Reductions::put_out(IRBuilder<>& ir, Value* tag, Value* sum) const {
  ir.CreateAtomicRMW(operation_, ir.CreateIntToPtr(tag, ir.getPtrTy()), sum, MaybeAlign(),
                     AtomicOrdering::Monotonic);
}

void Reductions::collect(Function& body) const {
  SmallVector<AtomicRMWInst*, 4> found;
  SmallVector<CallInst*, 4> own;
  for (Instruction& instruction : instructions(body)) {
    auto* atomic = dyn_cast<AtomicRMWInst>(&instruction);
    if (atomic && atomic->hasMetadata(mark)) found.push_back(atomic);
    auto* call = dyn_cast<CallInst>(&instruction);
    if (call && call->hasMetadata(plain_accesses)) own.push_back(call);
  }
  for (AtomicRMWInst* atomic : found)
    collect(*atomic, body.getArg(1));
  for (CallInst* call : own)
    collect(*call, body.getArg(1));
}

Value* Reductions::add(IRBuilder<>& ir, Value* before, Value* value) const {
  return operation_ == AtomicRMWInst::Add ? ir.CreateAdd(before, value)
                                          : ir.CreateFAdd(before, value);
}

// The loops over threads may take several at once: the accesses are of the group that the call is.
void Reductions::collect(CallInst& own, Value* memory) const {
  IRBuilder<> ir(&own);
  MDNode* group = own.getMetadata(LLVMContext::MD_access_group);
  const auto in_group = [&](auto* access) {
    access->setMetadata(LLVMContext::MD_access_group, group);
    return access;
  };
  Value* address = ir.CreatePtrToInt(own.getArgOperand(0), ir.getInt64Ty());
  Value* value = own.getArgOperand(1);
  Value* place = ir.CreateZExt(own.getArgOperand(2), ir.getInt64Ty());
  Value* tag_place = tag(ir, memory, place);
  Value* sum_place = sum(ir, memory, place);
  Value* tag = in_group(ir.CreateLoad(ir.getInt64Ty(), tag_place));
  Value* before = in_group(ir.CreateLoad(type_, sum_place));
  Value* is_first = ir.CreateICmpEQ(tag, ir.getInt64(0));
  in_group(ir.CreateStore(ir.CreateSelect(is_first, value, add(ir, before, value)), sum_place));
  in_group(ir.CreateStore(address, tag_place));
  own.eraseFromParent();
}

// As with shared atomics, the table's accesses are volatile: those of a loop over threads count as
// independent of each other.
void Reductions::collect(AtomicRMWInst& atomic, Value* memory) const {
  IRBuilder<> ir(&atomic);
  Value* value = atomic.getValOperand();
  Value* address = ir.CreatePtrToInt(atomic.getPointerOperand(), ir.getInt64Ty());
  const uint64_t bytes = type_->getPrimitiveSizeInBits() / 8;
  Value* place = ir.CreateAnd(ir.CreateUDiv(address, ir.getInt64(bytes)), ir.getInt64(places_ - 1));
  Value* tag_place = tag(ir, memory, place);
  Value* sum_place = sum(ir, memory, place);
  Value* tag = ir.CreateLoad(ir.getInt64Ty(), tag_place, true);
  Value* before = ir.CreateLoad(type_, sum_place, true);
  Instruction* other = nullptr;
  Instruction* same = nullptr;
  Value* is_same = ir.CreateICmpEQ(tag, address);
  SplitBlockAndInsertIfThenElse(is_same, &atomic, &same, &other);
  ir.SetInsertPoint(same);
  ir.CreateStore(add(ir, before, value), sum_place, true);
  ir.SetInsertPoint(other);
  ir.CreateStore(address, tag_place, true);
  ir.CreateStore(value, sum_place, true);
  Instruction* occupied =
      SplitBlockAndInsertIfThen(ir.CreateICmpNE(tag, ir.getInt64(0)), other, false);
  ir.SetInsertPoint(occupied);
  put_out(ir, tag, before);
  atomic.eraseFromParent();
}

void Reductions::begin(IRBuilder<>& ir, Value* memory) const {
  Value* tags = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), memory, tags_);
  ir.CreateMemSet(tags, ir.getInt8(0), 8 * places_, Align(64));
}

void Reductions::end(IRBuilder<>& ir, Value* memory) const {
  BasicBlock* before = ir.GetInsertBlock();
  Function* function = before->getParent();
  const auto make = [&](const char* name) {
    return BasicBlock::Create(ir.getContext(), name, function);
  };
  BasicBlock* loop = make("reduction");
  BasicBlock* used = make("reduction.used");
  BasicBlock* next = make("reduction.next");
  BasicBlock* done = make("reductions.done");
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  PHINode* place = ir.CreatePHI(ir.getInt64Ty(), 2);
  Value* address = ir.CreateLoad(ir.getInt64Ty(), tag(ir, memory, place));
  ir.CreateCondBr(ir.CreateICmpNE(address, ir.getInt64(0)), used, next);
  ir.SetInsertPoint(used);
  put_out(ir, address, ir.CreateLoad(type_, sum(ir, memory, place)));
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
  Value* following = ir.CreateAdd(place, ir.getInt64(1));
  place->addIncoming(ir.getInt64(0), before);
  place->addIncoming(following, next);
  ir.CreateCondBr(ir.CreateICmpULT(following, ir.getInt64(places_)), loop, done);
  ir.SetInsertPoint(done);
}

}  // namespace sluice::hostcuda::jit
