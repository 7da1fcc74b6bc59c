// Exchange between the lanes of a warp.
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

void require_sync(InstructionLifter& lifter) {
  // The forms without .sync exist only below sm_70.
  if (!lifter.modifiers.take("sync")) lifter.refuse_unsupported("it has no .sync");
}

// write_pair() writes {value, predicate} to `d|p`, or the value alone to `d`.
void write_pair(InstructionLifter& lifter, llvm::Value* pair, ScalarType type) {
  llvm::Value* value = lifter.ir().CreateExtractValue(pair, 0);
  if (const auto* names = std::get_if<PairOperand>(&lifter.operand(0).value)) {
    lifter.write_register(names->first.name, value, type);
    lifter.write_register(names->second.name, lifter.ir().CreateExtractValue(pair, 1),
                          ScalarType::pred);
  } else {
    lifter.write(0, value, type);
  }
}

}  // namespace

void lift_shfl(InstructionLifter& lifter) {
  require_sync(lifter);
  const auto mode = lifter.modifiers.take_any({"up", "down", "bfly", "idx"});
  const ScalarType type = lifter.take_type();
  if (!mode || type != ScalarType::b32) lifter.refuse_invalid("it needs a mode and .b32");
  if (lifter.operand_count() != 5) lifter.refuse_invalid("its member mask is missing");
  llvm::Value* value = lifter.read(1, type);
  llvm::Value* lane = lifter.read(2, ScalarType::u32);
  llvm::Value* clamp = lifter.read(3, ScalarType::u32);
  llvm::Value* mask = lifter.read(4, ScalarType::u32);
  const bool pair = std::holds_alternative<PairOperand>(lifter.operand(0).value);
  using namespace llvm::Intrinsic;
  llvm::Intrinsic::ID id = pair ? nvvm_shfl_sync_up_i32p : nvvm_shfl_sync_up_i32;
  if (*mode == "down") id = pair ? nvvm_shfl_sync_down_i32p : nvvm_shfl_sync_down_i32;
  if (*mode == "bfly") id = pair ? nvvm_shfl_sync_bfly_i32p : nvvm_shfl_sync_bfly_i32;
  if (*mode == "idx") id = pair ? nvvm_shfl_sync_idx_i32p : nvvm_shfl_sync_idx_i32;
  llvm::Value* result = lifter.tagged_intrinsic(id, {mask, value, lane, clamp});
  pair ? write_pair(lifter, result, type) : lifter.write(0, result, type);
}

void lift_vote(InstructionLifter& lifter) {
  require_sync(lifter);
  const auto mode = lifter.modifiers.take_any({"all", "any", "uni", "ballot"});
  const ScalarType type = lifter.take_type();
  if (!mode) lifter.refuse_invalid("its mode is missing");
  llvm::Value* predicate = lifter.read(1, ScalarType::pred);
  llvm::Value* mask = lifter.read(2, ScalarType::u32);
  llvm::Intrinsic::ID id = llvm::Intrinsic::nvvm_vote_all_sync;
  if (*mode == "any") id = llvm::Intrinsic::nvvm_vote_any_sync;
  if (*mode == "uni") id = llvm::Intrinsic::nvvm_vote_uni_sync;
  if (*mode == "ballot") id = llvm::Intrinsic::nvvm_vote_ballot_sync;
  lifter.write(0, lifter.tagged_intrinsic(id, {mask, predicate}), type);
}

void lift_match(InstructionLifter& lifter) {
  const auto mode = lifter.modifiers.take_any({"any", "all"});
  require_sync(lifter);
  const ScalarType type = lifter.take_type();
  if (!mode || !is_integer(type) || bit_width(type) < 32) {
    lifter.refuse_invalid("it needs a mode and .b32 or .b64");
  }
  const bool wide = bit_width(type) == 64;
  llvm::Value* value = lifter.read(1, type);
  llvm::Value* mask = lifter.read(2, ScalarType::u32);
  if (*mode == "any") {
    return lifter.write(0,
                        lifter.tagged_intrinsic(wide ? llvm::Intrinsic::nvvm_match_any_sync_i64
                                                     : llvm::Intrinsic::nvvm_match_any_sync_i32,
                                                {mask, value}),
                        ScalarType::b32);
  }
  write_pair(lifter,
             lifter.tagged_intrinsic(wide ? llvm::Intrinsic::nvvm_match_all_sync_i64p
                                          : llvm::Intrinsic::nvvm_match_all_sync_i32p,
                                     {mask, value}),
             ScalarType::b32);
}

void lift_redux(InstructionLifter& lifter) {
  require_sync(lifter);
  const auto operation = lifter.modifiers.take_any({"add", "min", "max", "and", "or", "xor"});
  const ScalarType type = lifter.take_type();
  if (!operation || !is_integer(type) || bit_width(type) != 32) {
    lifter.refuse_unsupported("only integers of 32 bits are reduced");
  }
  using namespace llvm::Intrinsic;
  llvm::Intrinsic::ID id = nvvm_redux_sync_add;
  if (*operation == "min") id = is_signed(type) ? nvvm_redux_sync_min : nvvm_redux_sync_umin;
  if (*operation == "max") id = is_signed(type) ? nvvm_redux_sync_max : nvvm_redux_sync_umax;
  if (*operation == "and") id = nvvm_redux_sync_and;
  if (*operation == "or") id = nvvm_redux_sync_or;
  if (*operation == "xor") id = nvvm_redux_sync_xor;
  llvm::Value* value = lifter.read(1, type);
  llvm::Value* mask = lifter.read(2, ScalarType::u32);
  lifter.write(0, lifter.tagged_intrinsic(id, {value, mask}), type);
}

void lift_activemask(InstructionLifter& lifter) {
  if (lifter.take_type() != ScalarType::b32) lifter.refuse_invalid("it needs .b32");
  lifter.write(0, lifter.tagged_intrinsic(llvm::Intrinsic::nvvm_activemask, {}), ScalarType::b32);
}

}  // namespace sluice::ptx::lift_detail
