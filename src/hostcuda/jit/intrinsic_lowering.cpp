#include "hostcuda/jit/intrinsic_lowering.hpp"

#include <vector>

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/Local.h>

#include "hostcuda/jit/access_trace.hpp"
#include "hostcuda/jit/math_intrinsics.hpp"
#include "hostcuda/jit/special_registers.hpp"
#include "hostcuda/jit/sync_points.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool is_fence(Intrinsic::ID id) {
  return id == Intrinsic::nvvm_membar_cta || id == Intrinsic::nvvm_membar_gl ||
         id == Intrinsic::nvvm_membar_sys;
}

// Ends the thread where `end` stands: `exit` in a function that was inlined, or a trap, which
// leaves a mark that the driver turns into a launch failure.
void end_thread(IntrinsicInst& end, const KernelContext& context) {
  IRBuilder<> ir(&end);
  const bool traps = end.getIntrinsicID() != Intrinsic::nvvm_exit;
  if (traps && context.trap_flag) {
    Value* flag = ir.CreateIntToPtr(ir.getInt64(reinterpret_cast<uint64_t>(context.trap_flag)),
                                    ir.getPtrTy());
    ir.CreateStore(ir.getInt8(1), flag)
        ->setMetadata(private_metadata, MDNode::get(end.getContext(), {}));
  }
  BasicBlock* block = end.getParent();
  block->splitBasicBlock(end.getIterator());
  Instruction* branch = block->getTerminator();
  ReturnInst::Create(end.getContext(), block);
  branch->eraseFromParent();
}

// isspacep: everything that is not in the block's shared memory counts as global. Null where the
// question is another one.
Value* address_space_test(IntrinsicInst& test, uint64_t static_shared_bytes, IRBuilder<>& ir) {
  const bool asks_shared = test.getIntrinsicID() == Intrinsic::nvvm_isspacep_shared;
  if (!asks_shared && test.getIntrinsicID() != Intrinsic::nvvm_isspacep_global) return nullptr;
  Function& function = *test.getFunction();
  const auto integer = [&](Value* pointer) { return ir.CreatePtrToInt(pointer, ir.getInt64Ty()); };
  Value* offset = ir.CreateSub(integer(test.getArgOperand(0)),
                               integer(function.getArg(ThreadFunction::shared)));
  Value* bytes = ir.CreateAdd(
      ir.CreateZExt(function.getArg(ThreadFunction::dynamic_shared_bytes), ir.getInt64Ty()),
      ir.getInt64(static_shared_bytes));
  return asks_shared ? ir.CreateICmpULT(offset, bytes) : ir.CreateICmpUGE(offset, bytes);
}

// The scopes of CUDA are all within one process here.
void widen_scope(Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction); load && load->isAtomic()) {
    load->setSyncScopeID(SyncScope::System);
  } else if (auto* store = dyn_cast<StoreInst>(&instruction); store && store->isAtomic()) {
    store->setSyncScopeID(SyncScope::System);
  } else if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    update->setSyncScopeID(SyncScope::System);
  } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    exchange->setSyncScopeID(SyncScope::System);
  } else if (auto* fence = dyn_cast<FenceInst>(&instruction)) {
    fence->setSyncScopeID(SyncScope::System);
  }
}

}  // namespace

Status lower_intrinsics(Function& function, const KernelContext& context,
                        uint64_t static_shared_bytes) {
  std::vector<IntrinsicInst*> calls;
  std::vector<IntrinsicInst*> ends_of_thread;
  for (Instruction& instruction : instructions(function)) {
    widen_scope(instruction);
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call) continue;
    const Intrinsic::ID id = call->getIntrinsicID();
    const bool ends =
        id == Intrinsic::trap || id == Intrinsic::debugtrap || id == Intrinsic::nvvm_exit;
    (ends ? ends_of_thread : calls).push_back(call);
  }
  for (IntrinsicInst* call : calls) {
    const Intrinsic::ID id = call->getIntrinsicID();
    if (!call->getCalledFunction()->getName().starts_with("llvm.nvvm.")) continue;
    if (is_sync_point(*call)) continue;
    IRBuilder<> ir(call);
    Value* value = special_register(*call, context.block, static_shared_bytes, ir);
    if (!value) value = math_value(*call, ir);
    if (!value) value = address_space_test(*call, static_shared_bytes, ir);
    if (value) {
      call->replaceAllUsesWith(value);
    } else if (is_fence(id)) {
      ir.CreateFence(AtomicOrdering::SequentiallyConsistent);
    } else if (id != Intrinsic::nvvm_nanosleep) {
      return unimplemented(fmt::format("the operation {} on the CPU device",
                                       call->getCalledFunction()->getName().str()),
                           place(context, *call));
    }
    call->eraseFromParent();
  }
  for (IntrinsicInst* end : ends_of_thread)
    end_thread(*end, context);
  removeUnreachableBlocks(function);
  return {};
}

}  // namespace sluice::hostcuda::jit
