#include "hostcuda/jit/object/flushed_operands.hpp"

#include <vector>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/Local.h>

#include "hostcuda/jit/lowering/sync_points.hpp"
#include "ptx/lift.hpp"
#include "ptx/lift/flush.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr uint32_t small_operands_are_zeros = 1U << 6U;  // of MXCSR

bool is_intrinsic(const Instruction& instruction, ArrayRef<Intrinsic::ID> ids) {
  auto* call = dyn_cast<IntrinsicInst>(&instruction);
  return call && is_contained(ids, call->getIntrinsicID());
}

// Operations that make a zero of a subnormal operand by themselves in that mode.
bool is_arithmetic(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FDiv:
    case Instruction::FCmp:
      return true;
    default:
      return is_intrinsic(instruction, {Intrinsic::fma, Intrinsic::sqrt}) ||
             (is_intrinsic(instruction, {Intrinsic::exp2}) &&
              instruction.hasMetadata(ptx::flushed_mark));
  }
}

// Operations that move bits, the sign's too, or to which a subnormal number is as good as zero.
bool is_indifferent(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::FNeg:
    case Instruction::Select:
    case Instruction::PHI:
    case Instruction::Store:
    case Instruction::BitCast:
    case Instruction::Freeze:
    case Instruction::FPToSI:
    case Instruction::FPToUI:
    case Instruction::InsertValue:
    case Instruction::Ret:
      return true;
    case Instruction::FPTrunc:
      return instruction.getType()->isHalfTy() && instruction.getOperand(0)->getType()->isFloatTy();
    default:
      break;
  }
  if (auto* call = dyn_cast<CallInst>(&instruction)) {
    const auto operation = sync_operation(*call);
    if (operation) return *operation != SyncOperation::matrix;
  }
  return is_intrinsic(instruction,
                      {Intrinsic::fabs, Intrinsic::copysign, Intrinsic::is_fpclass, Intrinsic::rint,
                       Intrinsic::nearbyint, Intrinsic::roundeven, Intrinsic::trunc,
                       Intrinsic::fptosi_sat, Intrinsic::fptoui_sat});
}

// Operations that go on reading what the select has flushed.
bool reads_flushed(const Instruction& instruction) {
  return instruction.getOpcode() == Instruction::FPExt ||
         is_intrinsic(instruction, {Intrinsic::minnum, Intrinsic::maxnum, Intrinsic::minimum,
                                    Intrinsic::maximum, Intrinsic::floor, Intrinsic::ceil,
                                    Intrinsic::log2, Intrinsic::sin, Intrinsic::cos});
}

// Whether the bits of a float are known not to be those of a subnormal number, as where a program
// makes a number from random bits. The select is folded there.
bool has_exponent(const Instruction& bit_cast) {
  const Value* bits = bit_cast.getOperand(0);
  return bits->getType()->isIntegerTy(32) &&
         computeKnownBits(bits, bit_cast.getDataLayout())
             .One.intersects(APFloat::getInf(APFloat::IEEEsingle()).bitcastToAPInt());
}

// Operations that leave a float what it is, or change its sign alone.
bool passes_on(const Instruction& instruction) {
  return instruction.getType()->isFloatTy() &&
         (isa<PHINode, SelectInst>(instruction) || instruction.getOpcode() == Instruction::FNeg ||
          is_intrinsic(instruction, {Intrinsic::fabs}));
}

// Whether a function of the device's may compute with floats: textures do.
bool may_compute(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return !callee || callee->getReturnType()->isFPOrFPVectorTy() ||
         callee->getName().starts_with("sluice.texture.");
}

bool is_number_read(const Instruction& instruction, const Use& use) {
  if (!use->getType()->isFloatTy()) return false;
  return !isa<CallInst>(instruction) || cast<CallInst>(instruction).isArgOperand(&use);
}

// FlushRemover does it for one function. "Passing" are values that passes_on() and whose own are
// all flushed: they may as well pass on what is not, to arithmetic.
class FlushRemover {
 public:
  explicit FlushRemover(Function& function) : function_(function) {}

  bool run() {
    for (Instruction& instruction : instructions(function_)) {
      if (passes_on(instruction) && !ptx::flushed_from(&instruction)) passing_.insert(&instruction);
    }
    bool changed = true;
    while (changed) {
      changed = false;
      for (Instruction& instruction : instructions(function_)) {
        if (passing_.contains(&instruction) && !passes_flushed(instruction))
          changed |= passing_.remove(&instruction);
      }
    }
    const bool fits = all_of(instructions(function_), [&](const Instruction& instruction) {
      return computes_alike(instruction);
    });
    return fits && rewrite();
  }

 private:
  bool passes_flushed(const Instruction& instruction) const {
    return all_of(instruction.operands(), [&](const Use& use) {
      return !is_number_read(instruction, use) || is_flushed(use.get());
    });
  }

  // Whether a float is never subnormal.
  bool is_flushed(const Value* value) const {
    if (auto* number = dyn_cast<ConstantFP>(value)) return !number->getValueAPF().isDenormal();
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction) return false;
    if (ptx::flushed_from(value) || passing_.contains(const_cast<Instruction*>(instruction)))
      return true;
    if (isa<UIToFPInst, SIToFPInst>(instruction)) return true;
    if (isa<FPExtInst>(instruction)) return instruction->getOperand(0)->getType()->isHalfTy();
    if (isa<BitCastInst>(instruction)) return has_exponent(*instruction);
    if (is_intrinsic(*instruction, {Intrinsic::exp2}))
      return instruction->hasMetadata(ptx::flushed_mark);
    if (is_intrinsic(*instruction, {Intrinsic::minnum, Intrinsic::maxnum}))
      return is_flushed(instruction->getOperand(0)) && is_flushed(instruction->getOperand(1));
    return is_intrinsic(*instruction,
                        {Intrinsic::sqrt, Intrinsic::floor, Intrinsic::ceil, Intrinsic::rint,
                         Intrinsic::nearbyint, Intrinsic::roundeven, Intrinsic::trunc});
  }

  // Whether an instruction computes the same where the processor flushes.
  bool computes_alike(const Instruction& instruction) const {
    if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
      return !update->isFloatingPointOperation() ||
             (update->getType()->isFloatTy() && update->getPointerAddressSpace() == 1);
    }
    if (auto* call = dyn_cast<CallInst>(&instruction)) {
      const bool is_known = isa<IntrinsicInst>(call) || sync_operation(*call);
      if (sync_operation(*call) == SyncOperation::matrix) return false;
      if (!is_known && may_compute(*call)) return false;
    }
    return all_of(instruction.operands(), [&](const Use& use) {
      Type* type = use->getType();
      if (type->isHalfTy() || !type->isFPOrFPVectorTy() || is_indifferent(instruction)) return true;
      if (!type->isFloatTy()) return false;
      return (is_arithmetic(instruction) || reads_flushed(instruction)) && is_flushed(use.get());
    });
  }

  bool rewrite() {
    if (flushed_operands().empty()) return false;
    for (Instruction* instruction : passing_)
      flush_elsewhere(*instruction);
    for (Use* use : flushed_operands()) {
      while (Value* from = ptx::flushed_from(use->get())) {
        auto* select = cast<Instruction>(use->get());
        use->set(from);
        if (select->use_empty()) RecursivelyDeleteTriviallyDeadInstructions(select);
      }
    }
    return true;
  }

  // Constants are folded by LLVM.
  std::vector<Use*> flushed_operands() {
    std::vector<Use*> uses;
    for (Instruction& instruction : instructions(function_)) {
      if (!is_arithmetic(instruction) && !passing_.contains(&instruction)) continue;
      for (Use& use : instruction.operands()) {
        Value* from = is_number_read(instruction, use) ? ptx::flushed_from(use.get()) : nullptr;
        if (from && !isa<Constant>(from)) uses.push_back(&use);
      }
    }
    return uses;
  }

  // Who reads a passing value and is neither passing nor arithmetic gets it flushed.
  void flush_elsewhere(Instruction& value) {
    std::vector<Instruction*> again;  // flushed from what is flushed
    for (User* user : value.users()) {
      if (ptx::flushed_from(user) == &value) again.push_back(cast<Instruction>(user));
    }
    for (Instruction* select : again) {
      select->replaceAllUsesWith(&value);
      RecursivelyDeleteTriviallyDeadInstructions(select);
    }
    std::vector<Use*> elsewhere;
    for (Use& use : value.uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (!is_arithmetic(*user) && !passing_.contains(user)) elsewhere.push_back(&use);
    }
    if (elsewhere.empty()) return;
    IRBuilder<> ir(value.getContext());
    ir.SetInsertPoint(isa<PHINode>(value) ? &*value.getParent()->getFirstInsertionPt()
                                          : value.getNextNode());
    Value* flushed = ptx::flush(&value, ir);
    for (Use* use : elsewhere)
      use->set(flushed);
  }

  Function& function_;
  SetVector<Instruction*> passing_;
};

}  // namespace

bool flush_by_processor(Function& function) {
  return Triple(sys::getProcessTriple()).isX86() && FlushRemover(function).run();
}

Function* run_flushing(Function& function) {
  Module* module = function.getParent();
  function.addFnAttr(Attribute::NoInline);
  Function* outer = Function::Create(function.getFunctionType(), Function::InternalLinkage,
                                     function.getName() + ".flushing", module);
  outer->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> ir(BasicBlock::Create(module->getContext(), "entry", outer));
  AllocaInst* before = ir.CreateAlloca(ir.getInt32Ty());
  AllocaInst* within = ir.CreateAlloca(ir.getInt32Ty());
  ir.CreateIntrinsic(Intrinsic::x86_sse_stmxcsr, {}, {before});
  ir.CreateStore(ir.CreateOr(ir.CreateLoad(ir.getInt32Ty(), before), small_operands_are_zeros),
                 within);
  ir.CreateIntrinsic(Intrinsic::x86_sse_ldmxcsr, {}, {within});
  SmallVector<Value*, 4> operands;
  for (Argument& argument : outer->args())
    operands.push_back(&argument);
  ir.CreateCall(&function, operands);
  ir.CreateIntrinsic(Intrinsic::x86_sse_ldmxcsr, {}, {before});
  ir.CreateRetVoid();
  return outer;
}

void mark_flushing(Function& function) {
  function.addFnAttr("denormal-fp-math-f32", "ieee,preserve-sign");
}

}  // namespace sluice::hostcuda::jit
