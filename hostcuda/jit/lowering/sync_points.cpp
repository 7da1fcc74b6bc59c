#include "hostcuda/jit/lowering/sync_points.hpp"

#include <optional>

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "hostcuda/jit/lowering/program_order.hpp"
#include "ptx/mbarrier_call.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

std::optional<PointCode> code_of(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  if (!callee) return std::nullopt;
  PointCode code;
  if (callee->getIntrinsicID() == Intrinsic::nvvm_barrier) return code;
  StringRef name = callee->getName();
  if (const auto matrix = ptx::matrix_call::parse({name.data(), name.size()})) {
    code.operation = SyncOperation::matrix;
    code.matrix = *matrix;
    return code;
  }
  if (!name.consume_front("llvm.nvvm.") && !name.consume_front("sluice.")) return std::nullopt;
  for (const NamedOperation& named : named_operations) {
    if (!name.starts_with(StringRef(named.prefix))) continue;
    code.operation = named.operation;
    return code;
  }
  return std::nullopt;
}

// BarrierOperands are a barrier's number and the number of threads that take part, both null where
// they are not written: barrier 0, all threads.
struct BarrierOperands {
  Value* number = nullptr;
  Value* count = nullptr;
};

BarrierOperands barrier_operands(const CallInst& call) {
  switch (call.getCalledFunction()->getIntrinsicID()) {
    case Intrinsic::nvvm_barrier:
    case Intrinsic::nvvm_barrier_sync_cnt:
      return {call.getArgOperand(0), call.getArgOperand(1)};
    case Intrinsic::nvvm_barrier_n:
    case Intrinsic::nvvm_bar_sync:
    case Intrinsic::nvvm_barrier_sync:
      return {call.getArgOperand(0), nullptr};
    default:
      // sluice.barrier.red.*(predicate, number, count)
      if (call.arg_size() == 3) return {call.getArgOperand(1), call.getArgOperand(2)};
      return {};
  }
}

bool takes_whole_block(const CallInst& call, uint64_t threads) {
  Value* count = barrier_operands(call).count;
  if (!count) return true;
  auto* constant = dyn_cast<ConstantInt>(count);
  return constant && (constant->isZero() || constant->getZExtValue() >= threads);
}

bool has_arrivals(const Module& module) {
  const Function* arrive = module.getFunction(barrier_arrive_name);
  return arrive && !arrive->use_empty();
}

// What has no meetings needs no order of its own.
std::vector<BasicBlock*> blocks_in_order(Function& function) {
  const Function* meeting = function.getParent()->getFunction(meeting_name);
  if (meeting && !meeting->use_empty()) return program_order(function);
  std::vector<BasicBlock*> blocks;
  for (BasicBlock& block : function)
    blocks.push_back(&block);
  return blocks;
}

CallInst* make_result(CallInst& call, BasicBlock& after) {
  if (call.getType()->isVoidTy()) return nullptr;
  Module& module = *call.getModule();
  std::string name;
  raw_string_ostream(name) << "sluice.result." << *call.getType();
  FunctionCallee placeholder =
      module.getOrInsertFunction(name, FunctionType::get(call.getType(), false));
  IRBuilder<> ir(&after, after.begin());
  CallInst* result = ir.CreateCall(placeholder);
  call.replaceAllUsesWith(result);
  return result;
}

}  // namespace

bool is_arrival(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName() == barrier_arrive_name;
}

bool is_lockstep(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName().starts_with(lockstep_name);
}

CallInst* call_lockstep(IRBuilder<>& ir, Value* active) {
  Module& module = *ir.GetInsertBlock()->getModule();
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

bool is_wait(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName() == ptx::matrix_call::wait_name;
}

bool is_yield(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName() == ptx::mbarrier_call::yield;
}

bool is_sync_point(const CallInst& call) {
  return code_of(call).has_value();
}

std::optional<SyncOperation> sync_operation(const CallInst& call) {
  const std::optional<PointCode> code = code_of(call);
  return code ? std::optional(code->operation) : std::nullopt;
}

std::vector<SyncPoint> split_at_sync_points(Function& function, const KernelContext& context) {
  std::vector<SyncPoint> points;
  bool is_numbered = has_arrivals(*function.getParent());
  for (BasicBlock* block : blocks_in_order(function)) {
    for (Instruction& instruction : *block) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (!call) continue;
      const std::optional<PointCode> code = code_of(*call);
      if (!code) continue;
      is_numbered |=
          is_block_wide(code->operation) && !takes_whole_block(*call, context.block.count());
      points.push_back({*code, call});
      points.back().is_lockstep = is_lockstep(*call);
    }
  }
  for (SyncPoint& point : points) {
    point.is_numbered = is_numbered && is_block_wide(point.code.operation);
    const std::string name = "sync." + utostr(&point - points.data());
    BasicBlock* before = point.call->getParent();
    point.block = before->splitBasicBlock(point.call->getIterator(), name);
    point.after =
        point.block->splitBasicBlock(std::next(point.call->getIterator()), name + ".after");
    point.result = make_result(*point.call, *point.after);
  }
  return points;
}

SyncOperands sync_operands(const CallInst& call, IRBuilder<>& ir) {
  const PointCode code = *code_of(call);
  const SyncOperation operation = code.operation;
  const bool has_mask = call.getCalledFunction()->getName().contains(".sync");
  SyncOperands operands;
  operands.code = code;
  if (takes_whoever_is_there(operation)) return operands;
  if (operation == SyncOperation::matrix) {
    operands.slots.assign(call.arg_begin(), call.arg_end());
    return operands;
  }
  if (is_block_wide(operation)) {
    if (operation != SyncOperation::barrier) operands.value = call.getArgOperand(0);
    const BarrierOperands barrier = barrier_operands(call);
    operands.lane =
        barrier.number ? ir.CreateAnd(barrier.number, barriers_of_a_block - 1) : ir.getInt32(0);
    operands.clamp = barrier.count ? barrier.count : ir.getInt32(0);
    return operands;
  }
  if (operation >= SyncOperation::reduce_add) {
    operands.value = call.getArgOperand(0);
    operands.mask = call.getArgOperand(1);
    return operands;
  }
  unsigned next = 0;
  operands.mask = has_mask ? call.getArgOperand(next++) : ir.getInt32(~0u);
  if (operation == SyncOperation::warp_barrier) return operands;
  operands.value = call.getArgOperand(next++);
  if (operation >= SyncOperation::shuffle_up && operation <= SyncOperation::shuffle_index) {
    operands.lane = call.getArgOperand(next++);
    operands.clamp = call.getArgOperand(next);
  }
  return operands;
}

}  // namespace sluice::hostcuda::jit
