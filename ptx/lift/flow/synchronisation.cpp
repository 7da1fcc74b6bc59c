// Barriers of the block and of the warp, fences.
#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

namespace {

bool is_zero(llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant != nullptr && constant->isZero();
}

llvm::CallInst* convergent_call(InstructionLifter& lifter, llvm::StringRef name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* call = tagged_call(lifter, name, result, arguments);
  call->getCalledFunction()->addFnAttr(llvm::Attribute::Convergent);
  return call;
}

// bar.red{.popc,.and,.or} d, a{, b}, {!}c: a barrier that also reduces a predicate.
void lift_reduction(InstructionLifter& lifter) {
  const auto operation = lifter.modifiers.take_any({"popc", "and", "or"});
  const ScalarType type = lifter.take_type();
  const size_t count = lifter.operand_count();
  if (!operation || count < 3) lifter.refuse_invalid("its operation or an operand is missing");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* number = lifter.read(1, ScalarType::u32);
  llvm::Value* threads = count == 4 ? lifter.read(2, ScalarType::u32) : ir.getInt32(0);
  llvm::Value* predicate = ir.CreateZExt(lifter.read(count - 1, ScalarType::pred), ir.getInt32Ty());
  llvm::Value* result = nullptr;
  if (count == 3 && is_zero(number)) {
    llvm::Intrinsic::ID id = llvm::Intrinsic::nvvm_barrier0_popc;
    if (*operation == "and") id = llvm::Intrinsic::nvvm_barrier0_and;
    if (*operation == "or") id = llvm::Intrinsic::nvvm_barrier0_or;
    result = tagged_intrinsic(lifter, id, {predicate});
  } else {
    const std::string name = "sluice.barrier.red." + std::string(*operation);
    result = convergent_call(lifter, name, ir.getInt32Ty(), {predicate, number, threads});
  }
  if (*operation != "popc") result = ir.CreateICmpNE(result, ir.getInt32(0));
  lifter.write(0, result, type);
}

void lift_arrival(InstructionLifter& lifter) {
  if (lifter.operand_count() != 2) lifter.refuse_invalid("its count is missing");
  convergent_call(lifter, "sluice.barrier.arrive", lifter.ir().getVoidTy(),
                  {lifter.read(0, ScalarType::u32), lifter.read(1, ScalarType::u32)});
}

void lift_warp_barrier(InstructionLifter& lifter) {
  lifter.modifiers.take("sync");
  tagged_intrinsic(lifter, llvm::Intrinsic::nvvm_bar_warp_sync, {lifter.read(0, ScalarType::u32)});
}

}  // namespace

void lift_barrier(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  if (modifiers.take("warp")) return lift_warp_barrier(lifter);
  if (modifiers.take("cluster")) return lift_cluster_barrier(lifter);
  modifiers.take("cta");
  // `bar` is always aligned; an unaligned barrier may be met by the threads of a warp apart.
  const bool aligned = modifiers.take("aligned") || lifter.info().opcode == Opcode::bar;
  if (modifiers.take("red")) return lift_reduction(lifter);
  if (modifiers.take("arrive")) return lift_arrival(lifter);
  if (!modifiers.take("sync")) lifter.refuse_invalid("it needs .sync, .arrive or .red");
  llvm::Value* barrier = lifter.read(0, ScalarType::u32);
  if (lifter.operand_count() == 1) {
    if (is_zero(barrier) && aligned) {
      tagged_intrinsic(lifter, llvm::Intrinsic::nvvm_barrier0, {});
    } else {
      tagged_intrinsic(
          lifter, aligned ? llvm::Intrinsic::nvvm_barrier_n : llvm::Intrinsic::nvvm_barrier_sync,
          {barrier});
    }
    return;
  }
  if (lifter.operand_count() != 2) lifter.refuse_invalid("an operand is too many");
  tagged_intrinsic(lifter,
                   aligned ? llvm::Intrinsic::nvvm_barrier : llvm::Intrinsic::nvvm_barrier_sync_cnt,
                   {barrier, lifter.read(1, ScalarType::u32)});
}

void lift_membar(InstructionLifter& lifter) {
  const auto scope = lifter.modifiers.take_any({"cta", "gl", "sys"});
  if (!scope) lifter.refuse_invalid("its scope is missing");
  llvm::Intrinsic::ID id = llvm::Intrinsic::nvvm_membar_cta;
  if (*scope == "gl") id = llvm::Intrinsic::nvvm_membar_gl;
  if (*scope == "sys") id = llvm::Intrinsic::nvvm_membar_sys;
  tagged_intrinsic(lifter, id, {});
}

void lift_fence(InstructionLifter& lifter) {
  // The membar intrinsics order as fence.sc does, which is at least what is asked for.
  lifter.modifiers.take_any({"sc", "acq_rel", "acquire", "release"});
  // Of two addresses of the same memory.
  if (lifter.modifiers.take("proxy") && lifter.modifiers.take("alias")) {
    tagged_intrinsic(lifter, llvm::Intrinsic::nvvm_membar_sys, {});
    return;
  }
  const auto scope = lifter.modifiers.take_any({"cta", "cluster", "gpu", "sys"});
  if (!scope) lifter.refuse_unsupported("its scope is not supported");
  llvm::Intrinsic::ID id = llvm::Intrinsic::nvvm_membar_cta;
  if (*scope == "gpu") id = llvm::Intrinsic::nvvm_membar_gl;
  if (*scope == "sys") id = llvm::Intrinsic::nvvm_membar_sys;
  tagged_intrinsic(lifter, id, {});
}

void lift_nanosleep(InstructionLifter& lifter) {
  if (lifter.take_type() != ScalarType::u32) lifter.refuse_invalid("it needs .u32");
  tagged_intrinsic(lifter, llvm::Intrinsic::nvvm_nanosleep, {lifter.read(0, ScalarType::u32)});
}

}  // namespace sluice::ptx::lift_detail
