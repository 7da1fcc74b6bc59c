#include "hostcuda/jit/lowering/intrinsic_lowering.hpp"

#include <vector>

#include <fmt/format.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "hostcuda/jit/library/device_fault.hpp"
#include "hostcuda/jit/library/device_library.hpp"
#include "hostcuda/jit/library/directed_double.hpp"
#include "hostcuda/jit/lowering/access_trace.hpp"
#include "hostcuda/jit/lowering/outside_address.hpp"
#include "hostcuda/jit/lowering/special_functions.hpp"
#include "hostcuda/jit/lowering/special_registers.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"
#include "ptx/lift.hpp"
#include "ptx/lift/flush.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool is_fence(Intrinsic::ID id) {
  return id == Intrinsic::nvvm_membar_cta || id == Intrinsic::nvvm_membar_gl ||
         id == Intrinsic::nvvm_membar_sys;
}

DeviceFault fault_of(const CallInst& end) {
  switch (end.getIntrinsicID()) {
    case Intrinsic::nvvm_exit:
      return DeviceFault::none;
    case Intrinsic::trap:
    case Intrinsic::debugtrap:
      return DeviceFault::trap;
    default:
      return DeviceFault::assertion;
  }
}

// Ends the thread where `end` stands: `exit` in a function that was inlined, or a trap or a failed
// assertion, which leaves a mark that the driver turns into a launch failure.
void end_thread(CallInst& end, const KernelContext& context) {
  IRBuilder<> ir(&end);
  const DeviceFault fault = fault_of(end);
  if (fault != DeviceFault::none && context.fault_flag) {
    Value* flag = ir.CreateIntToPtr(outside_address(*end.getModule(), fault_name), ir.getPtrTy());
    ir.CreateStore(ir.getInt8(static_cast<uint8_t>(fault)), flag)
        ->setMetadata(private_metadata, MDNode::get(end.getContext(), {}));
  }
  BasicBlock* block = end.getParent();
  block->splitBasicBlock(end.getIterator());
  Instruction* branch = block->getTerminator();
  ReturnInst::Create(end.getContext(), block);
  branch->eraseFromParent();
}

// is_local() is true where an address is seen to be that of a variable of the thread's own.
bool is_local(const Value* address) {
  for (const Value* before = nullptr; before != address;) {
    before = address;
    if (const auto* pointer = dyn_cast<IntToPtrInst>(address)) address = pointer->getOperand(0);
    if (const auto* number = dyn_cast<PtrToIntInst>(address)) address = number->getOperand(0);
    if (address->getType()->isPointerTy()) address = getUnderlyingObject(address);
  }
  return isa<AllocaInst>(address);
}

// isspacep: what is neither in the block's shared memory nor seen to be the thread's own counts as
// global, constants too. Null where the question is about no memory of these.
Value* address_space_test(IntrinsicInst& test, uint64_t static_shared_bytes, IRBuilder<>& ir) {
  const Intrinsic::ID id = test.getIntrinsicID();
  const bool asks_shared = id == Intrinsic::nvvm_isspacep_shared;
  const bool asks_global = id == Intrinsic::nvvm_isspacep_global;
  const bool asks_local = id == Intrinsic::nvvm_isspacep_local;
  if (id == Intrinsic::nvvm_isspacep_const) return ir.getFalse();
  if (!asks_shared && !asks_global && !asks_local) return nullptr;
  if (asks_local || is_local(test.getArgOperand(0)))
    return ir.getInt1(asks_local && is_local(test.getArgOperand(0)));
  Function& function = *test.getFunction();
  const auto integer = [&](Value* pointer) { return ir.CreatePtrToInt(pointer, ir.getInt64Ty()); };
  Value* offset = ir.CreateSub(integer(test.getArgOperand(0)),
                               integer(function.getArg(ThreadFunction::shared)));
  Value* bytes = ir.CreateAdd(
      ir.CreateZExt(function.getArg(ThreadFunction::dynamic_shared_bytes), ir.getInt64Ty()),
      ir.getInt64(static_shared_bytes));
  return asks_shared ? ir.CreateICmpULT(offset, bytes) : ir.CreateICmpUGE(offset, bytes);
}

CallInst* call_library(IRBuilder<>& ir, const DeviceFunction& function, FunctionType* type,
                       ArrayRef<Value*> arguments) {
  FunctionCallee callee =
      ir.GetInsertBlock()->getModule()->getOrInsertFunction(function.symbol, type);
  cast<Function>(callee.getCallee())->setDoesNotThrow();
  return ir.CreateCall(callee, arguments);
}

unsigned bytes_of(Type* type) {
  return type->isVoidTy() ? 0 : static_cast<unsigned>(type->getPrimitiveSizeInBits() / 8);
}

// A program may declare these functions as it likes, but only CUDA's own signature can be called.
bool has_signature(const CallInst& call, const DeviceFunction& function) {
  const StringRef wanted(function.signature);
  if (call.arg_size() + 1 != wanted.size()) return false;
  if (bytes_of(call.getType()) != static_cast<unsigned>(wanted[0] - '0')) return false;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    Type* type = call.getArgOperand(i)->getType();
    if (!type->isIntegerTy() || bytes_of(type) != static_cast<unsigned>(wanted[i + 1] - '0')) {
      return false;
    }
  }
  return true;
}

// Makes a call of the device library one of what stands for it.
CallInst* lower_library_call(CallInst& call, const DeviceFunction& function) {
  IRBuilder<> ir(&call);
  const SmallVector<Value*, 5> arguments(call.args());
  CallInst* lowered = call_library(ir, function, call.getFunctionType(), arguments);
  lowered->copyMetadata(call);
  call.replaceAllUsesWith(lowered);
  call.eraseFromParent();
  return lowered;
}

// %globaltimer and nanosleep, which may end at once: the thread lets others run.
bool lower_clock(IntrinsicInst& call, IRBuilder<>& ir) {
  if (call.getIntrinsicID() == Intrinsic::nvvm_nanosleep) {
    call_library(ir, *find_device_function("nanosleep"), FunctionType::get(ir.getVoidTy(), false),
                 {});
    return true;
  }
  if (call.getIntrinsicID() != Intrinsic::nvvm_read_ptx_sreg_globaltimer) return false;
  call.replaceAllUsesWith(call_library(ir, *find_device_function("%globaltimer"),
                                       FunctionType::get(ir.getInt64Ty(), false), {}));
  return true;
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

void lower_exp2(IntrinsicInst& call) {
  IRBuilder<> ir(&call);
  Value* operand = call.getArgOperand(0);
  if (!call.hasMetadata(ptx::flushed_mark)) {
    call.replaceAllUsesWith(exp2_value(operand, ir));
  } else {
    // 2 to the power of a small number is 1, as that of zero.
    Value* from = ptx::flushed_from(operand);
    Value* power = exp2_value_flushed(from ? from : operand, ir);
    for (User* user : make_early_inc_range(call.users()))
      if (ptx::flushed_from(user) == &call) user->replaceAllUsesWith(power);
    call.replaceAllUsesWith(power);
  }
  call.eraseFromParent();
}

// lower_special() makes code in line of a special function of a float, and is false for others.
bool lower_special(IntrinsicInst& call) {
  if (!call.getType()->isFloatTy()) return false;
  IRBuilder<> ir(&call);
  Value* value = nullptr;
  switch (call.getIntrinsicID()) {
    case Intrinsic::exp2:
      lower_exp2(call);
      return true;
    case Intrinsic::log2:
      value = log2_value(call.getArgOperand(0), ir);
      break;
    case Intrinsic::sin:
      value = sine_value(call.getArgOperand(0), ir);
      break;
    case Intrinsic::cos:
      value = cosine_value(call.getArgOperand(0), ir);
      break;
    default:
      return false;
  }
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
  return true;
}

}  // namespace

Status lower_intrinsics(Function& function, const KernelContext& context,
                        uint64_t static_shared_bytes) {
  std::vector<IntrinsicInst*> calls;
  std::vector<CallInst*> ends_of_thread;
  std::vector<CallInst*> library_calls;
  for (Instruction& instruction : instructions(function)) {
    widen_scope(instruction);
    auto* any_call = dyn_cast<CallInst>(&instruction);
    const Function* callee = any_call ? any_call->getCalledFunction() : nullptr;
    if (callee && find_device_function(callee->getName().str())) {
      library_calls.push_back(any_call);
    }
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call) continue;
    const Intrinsic::ID id = call->getIntrinsicID();
    const bool ends =
        id == Intrinsic::trap || id == Intrinsic::debugtrap || id == Intrinsic::nvvm_exit;
    if (ends) {
      ends_of_thread.push_back(call);
    } else {
      calls.push_back(call);
    }
  }
  for (IntrinsicInst* call : calls) {
    const Intrinsic::ID id = call->getIntrinsicID();
    if (lower_special(*call)) continue;
    if (!call->getCalledFunction()->getName().starts_with("llvm.nvvm.")) continue;
    if (is_sync_point(*call)) continue;
    IRBuilder<> ir(call);
    Value* value = special_register(*call, context.block, static_shared_bytes, ir);
    if (!value) value = call_directed(id, SmallVector<Value*, 3>(call->args()), ir);
    if (!value) value = address_space_test(*call, static_shared_bytes, ir);
    if (value) {
      call->replaceAllUsesWith(value);
    } else if (is_fence(id)) {
      ir.CreateFence(AtomicOrdering::SequentiallyConsistent);
    } else if (!lower_clock(*call, ir)) {
      return unimplemented(fmt::format("the operation {} on the CPU device",
                                       call->getCalledFunction()->getName().str()),
                           place(context, *call));
    }
    call->eraseFromParent();
  }
  for (CallInst* call : library_calls) {
    const DeviceFunction& function =
        *find_device_function(call->getCalledFunction()->getName().str());
    if (!has_signature(*call, function)) {
      return invalid_input(
          fmt::format("{} is called with other parameters than CUDA's own has", function.name),
          place(context, *call));
    }
    CallInst* lowered = lower_library_call(*call, function);
    // A second call marks where the thread ends; end_thread() cuts it off.
    if (function.ends_thread) {
      auto* after = cast<CallInst>(lowered->clone());
      after->insertAfter(lowered);
      ends_of_thread.push_back(after);
    }
  }
  for (CallInst* end : ends_of_thread)
    end_thread(*end, context);
  removeUnreachableBlocks(function);
  return {};
}

}  // namespace sluice::hostcuda::jit
