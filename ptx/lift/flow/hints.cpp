// Instructions that change no result here, and two that count bits of masks of lanes.
#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/matrix/matrix.hpp"

namespace sluice::ptx::lift_detail {

void lift_hint(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  switch (lifter.info().opcode) {
    case Opcode::applypriority:
    case Opcode::discard:
      // What discard leaves in memory is anything, so it may stay what it was.
      take_space(lifter);
      modifiers.take_prefixed("L2");
      return;
    case Opcode::prefetchu:
      modifiers.take("L1");
      return;
    case Opcode::griddepcontrol:
      // Launches wait for those before them anyway.
      if (!modifiers.take_any({"launch_dependents", "wait"})) {
        lifter.refuse_invalid("it needs .launch_dependents or .wait");
      }
      return;
    default:
      modifiers.take("mask");
      return;  // pmevent triggers counters that are not there
  }
}

// A policy is opaque, and whoever takes one ignores it.
void lift_createpolicy(InstructionLifter& lifter) {
  lifter.modifiers.take_any({"fractional", "range", "cvt"});
  lifter.modifiers.take_any({"global", "L2"});
  lifter.modifiers.take_prefixed("L2");
  if (lifter.take_type() != ScalarType::b64) lifter.refuse_invalid("it needs .b64");
  lifter.write(0, lifter.ir().getInt64(0), ScalarType::b64);
}

// elect.sync d|p, mask: the lowest lane of the mask is elected.
void lift_elect(InstructionLifter& lifter) {
  if (!lifter.modifiers.take("sync")) lifter.refuse_invalid("it needs .sync");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* mask = lifter.read(1, ScalarType::b32);
  llvm::Value* leader = lifter.ir().CreateIntrinsic(llvm::Intrinsic::cttz, {ir.getInt32Ty()},
                                                    {mask, ir.getInt1(false)});
  const auto* names = std::get_if<PairOperand>(&lifter.operand(0).value);
  if (names == nullptr) lifter.refuse_invalid("its destination is no pair");
  lifter.write_register(names->first, leader, ScalarType::b32);
  lifter.write_register(names->second, ir.CreateICmpEQ(leader, lane(lifter)), ScalarType::pred);
}

// fns.b32 d, mask, base, offset: the place of the offset-th set bit, counted from `base` upwards
// or, where the offset is negative, downwards; -1 where there is none.
void lift_fns(InstructionLifter& lifter) {
  if (lifter.take_type() != ScalarType::b32) lifter.refuse_invalid("it needs .b32");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* mask = lifter.read(1, ScalarType::b32);
  llvm::Value* base = lifter.read(2, ScalarType::b32);
  llvm::Value* offset = lifter.read(3, ScalarType::s32);
  llvm::Value* zero = ir.getInt32(0);
  llvm::Value* upwards = ir.CreateICmpSGE(offset, zero);
  llvm::Value* step = ir.CreateSelect(upwards, ir.getInt32(1), ir.getInt32(-1U));
  llvm::Value* distance = ir.CreateSelect(upwards, offset, ir.CreateNeg(offset));
  // An offset of 0 asks for the bit at `base` itself, one of 1 for the first set bit from there.
  llvm::Value* at_base_only = ir.CreateICmpEQ(offset, zero);
  llvm::Value* left = ir.CreateSelect(at_base_only, ir.getInt32(1), distance);
  llvm::Value* position = base;
  llvm::Value* found = ir.getInt32(-1U);
  for (unsigned i = 0; i < 32; ++i) {
    llvm::Value* inside = ir.CreateICmpULT(position, ir.getInt32(32));
    llvm::Value* bit = ir.CreateLShr(mask, ir.CreateAnd(position, 31));
    llvm::Value* set = ir.CreateAnd(inside, ir.CreateTrunc(bit, ir.getInt1Ty()));
    if (i > 0) set = ir.CreateAnd(set, ir.CreateNot(at_base_only));
    left = ir.CreateSub(left, ir.CreateZExt(set, ir.getInt32Ty()));
    llvm::Value* is_it = ir.CreateAnd(set, ir.CreateICmpEQ(left, zero));
    found = ir.CreateSelect(is_it, position, found);
    position = ir.CreateAdd(position, step);
  }
  lifter.write(0, found, ScalarType::b32);
}

}  // namespace sluice::ptx::lift_detail
