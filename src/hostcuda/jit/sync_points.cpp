#include "hostcuda/jit/sync_points.hpp"

#include <optional>

#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

struct NamedOperation {
  StringRef prefix;
  SyncOperation operation;
};

// By the start of the intrinsic's name after "llvm.nvvm.": a longer prefix before a shorter one.
constexpr NamedOperation named_operations[] = {
    {"barrier0.and", SyncOperation::barrier_and},
    {"barrier0.or", SyncOperation::barrier_or},
    {"barrier0.popc", SyncOperation::barrier_popc},
    {"barrier0", SyncOperation::barrier},
    {"bar.sync", SyncOperation::barrier},
    {"barrier.sync", SyncOperation::barrier},
    {"barrier.n", SyncOperation::barrier},
    {"bar.warp.sync", SyncOperation::warp_barrier},
    {"activemask", SyncOperation::active_mask},
    {"shfl.sync.up", SyncOperation::shuffle_up},
    {"shfl.sync.down", SyncOperation::shuffle_down},
    {"shfl.sync.bfly", SyncOperation::shuffle_butterfly},
    {"shfl.sync.idx", SyncOperation::shuffle_index},
    {"shfl.up", SyncOperation::shuffle_up},
    {"shfl.down", SyncOperation::shuffle_down},
    {"shfl.bfly", SyncOperation::shuffle_butterfly},
    {"shfl.idx", SyncOperation::shuffle_index},
    {"vote.all", SyncOperation::vote_all},
    {"vote.any", SyncOperation::vote_any},
    {"vote.uni", SyncOperation::vote_uniform},
    {"vote.ballot", SyncOperation::vote_ballot},
    {"match.any", SyncOperation::match_any},
    {"match.all", SyncOperation::match_all},
    {"redux.sync.add", SyncOperation::reduce_add},
    {"redux.sync.and", SyncOperation::reduce_and},
    {"redux.sync.or", SyncOperation::reduce_or},
    {"redux.sync.xor", SyncOperation::reduce_xor},
    {"redux.sync.min", SyncOperation::reduce_min},
    {"redux.sync.max", SyncOperation::reduce_max},
    {"redux.sync.umin", SyncOperation::reduce_unsigned_min},
    {"redux.sync.umax", SyncOperation::reduce_unsigned_max},
};

std::optional<SyncOperation> operation_of(const IntrinsicInst& call) {
  if (call.getIntrinsicID() == Intrinsic::nvvm_barrier) return SyncOperation::barrier;
  StringRef name = call.getCalledFunction()->getName();
  if (!name.consume_front("llvm.nvvm.")) return std::nullopt;
  for (const NamedOperation& named : named_operations) {
    if (name.starts_with(named.prefix)) return named.operation;
  }
  return std::nullopt;
}

// The operand that says how many threads take part, null where all do.
Value* thread_count(const IntrinsicInst& call) {
  const Intrinsic::ID id = call.getIntrinsicID();
  const bool has_count = id == Intrinsic::nvvm_barrier || id == Intrinsic::nvvm_barrier_sync_cnt;
  return has_count ? call.getArgOperand(1) : nullptr;
}

Status check_participants(const IntrinsicInst& call, const KernelContext& context) {
  Value* count = thread_count(call);
  if (!count) return {};
  const uint64_t threads = context.block.count();
  auto* constant = dyn_cast<ConstantInt>(count);
  if (constant && constant->getZExtValue() >= threads) return {};
  return unimplemented("a barrier for a part of the block", place(context, call));
}

CallInst* make_result(IntrinsicInst& call, BasicBlock& after) {
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

bool is_sync_point(const IntrinsicInst& call) {
  return operation_of(call).has_value();
}

Result<std::vector<SyncPoint>> split_at_sync_points(Function& function,
                                                    const KernelContext& context) {
  std::vector<SyncPoint> points;
  for (Instruction& instruction : instructions(function)) {
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call) continue;
    const std::optional<SyncOperation> operation = operation_of(*call);
    if (!operation) continue;
    if (Status status = check_participants(*call, context); !status) {
      return tl::unexpected(status.error());
    }
    points.push_back({*operation, call});
  }
  for (SyncPoint& point : points) {
    const std::string name = "sync." + utostr(&point - points.data());
    BasicBlock* before = point.call->getParent();
    point.block = before->splitBasicBlock(point.call->getIterator(), name);
    point.after =
        point.block->splitBasicBlock(std::next(point.call->getIterator()), name + ".after");
    point.result = make_result(*point.call, *point.after);
  }
  return points;
}

SyncOperands sync_operands(const IntrinsicInst& call, IRBuilder<>& ir) {
  const SyncOperation operation = *operation_of(call);
  const bool has_mask = call.getCalledFunction()->getName().contains(".sync");
  SyncOperands operands;
  if (operation == SyncOperation::barrier || operation == SyncOperation::active_mask) {
    return operands;
  }
  if (is_block_wide(operation)) {
    operands.value = call.getArgOperand(0);
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
