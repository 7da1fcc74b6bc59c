// Exchange between the lanes of a warp.
#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

namespace {

void require_sync(InstructionLifter& lifter) {
  if (!lifter.modifiers.take("sync")) lifter.refuse_unsupported("it has no .sync");
}

// write_pair() writes {value, predicate} to `d|p`, or the value alone to `d`.
void write_pair(InstructionLifter& lifter, llvm::Value* pair, ScalarType type) {
  llvm::Value* value = lifter.ir().CreateExtractValue(pair, 0);
  if (const auto* names = std::get_if<PairOperand>(&lifter.operand(0).value)) {
    lifter.write_register(names->first, value, type);
    lifter.write_register(names->second, lifter.ir().CreateExtractValue(pair, 1), ScalarType::pred);
  } else {
    lifter.write(0, value, type);
  }
}

}  // namespace

// The forms without .sync, for targets below sm_70, name no lanes: all take part that are there.
void lift_shfl(InstructionLifter& lifter) {
  using namespace llvm::Intrinsic;
  struct Mode {
    std::string_view name;
    llvm::Intrinsic::ID sync, sync_pair, plain, plain_pair;
  };
  static constexpr Mode modes[] = {
      {"up", nvvm_shfl_sync_up_i32, nvvm_shfl_sync_up_i32p, nvvm_shfl_up_i32, nvvm_shfl_up_i32p},
      {"down", nvvm_shfl_sync_down_i32, nvvm_shfl_sync_down_i32p, nvvm_shfl_down_i32,
       nvvm_shfl_down_i32p},
      {"bfly", nvvm_shfl_sync_bfly_i32, nvvm_shfl_sync_bfly_i32p, nvvm_shfl_bfly_i32,
       nvvm_shfl_bfly_i32p},
      {"idx", nvvm_shfl_sync_idx_i32, nvvm_shfl_sync_idx_i32p, nvvm_shfl_idx_i32,
       nvvm_shfl_idx_i32p}};
  const bool has_mask = lifter.modifiers.take("sync");
  const auto mode = lifter.modifiers.take_any({"up", "down", "bfly", "idx"});
  const ScalarType type = lifter.take_type();
  if (!mode || type != ScalarType::b32) lifter.refuse_invalid("it needs a mode and .b32");
  if (lifter.operand_count() != (has_mask ? 5 : 4)) {
    lifter.refuse_invalid("its member mask is missing, or one too many");
  }
  std::vector<llvm::Value*> arguments;
  if (has_mask) arguments.push_back(lifter.read(4, ScalarType::u32));
  arguments.insert(arguments.end(), {lifter.read(1, type), lifter.read(2, ScalarType::u32),
                                     lifter.read(3, ScalarType::u32)});
  const bool pair = std::holds_alternative<PairOperand>(lifter.operand(0).value);
  for (const Mode& known : modes) {
    if (known.name != *mode) continue;
    const auto id =
        has_mask ? (pair ? known.sync_pair : known.sync) : (pair ? known.plain_pair : known.plain);
    llvm::Value* result = tagged_intrinsic(lifter, id, arguments);
    pair ? write_pair(lifter, result, type) : lifter.write(0, result, type);
  }
}

void lift_vote(InstructionLifter& lifter) {
  using namespace llvm::Intrinsic;
  const bool has_mask = lifter.modifiers.take("sync");
  const auto mode = lifter.modifiers.take_any({"all", "any", "uni", "ballot"});
  const ScalarType type = lifter.take_type();
  if (!mode) lifter.refuse_invalid("its mode is missing");
  if (lifter.operand_count() != (has_mask ? 3 : 2)) {
    lifter.refuse_invalid("its member mask is missing, or one too many");
  }
  llvm::Intrinsic::ID id = has_mask ? nvvm_vote_all_sync : nvvm_vote_all;
  if (*mode == "any") id = has_mask ? nvvm_vote_any_sync : nvvm_vote_any;
  if (*mode == "uni") id = has_mask ? nvvm_vote_uni_sync : nvvm_vote_uni;
  if (*mode == "ballot") id = has_mask ? nvvm_vote_ballot_sync : nvvm_vote_ballot;
  std::vector<llvm::Value*> arguments;
  if (has_mask) arguments.push_back(lifter.read(2, ScalarType::u32));
  arguments.push_back(lifter.read(1, ScalarType::pred));
  lifter.write(0, tagged_intrinsic(lifter, id, arguments), type);
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
                        tagged_intrinsic(lifter,
                                         wide ? llvm::Intrinsic::nvvm_match_any_sync_i64
                                              : llvm::Intrinsic::nvvm_match_any_sync_i32,
                                         {mask, value}),
                        ScalarType::b32);
  }
  write_pair(lifter,
             tagged_intrinsic(lifter,
                              wide ? llvm::Intrinsic::nvvm_match_all_sync_i64p
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
  lifter.write(0, tagged_intrinsic(lifter, id, {value, mask}), type);
}

void lift_activemask(InstructionLifter& lifter) {
  if (lifter.take_type() != ScalarType::b32) lifter.refuse_invalid("it needs .b32");
  lifter.write(0, tagged_intrinsic(lifter, llvm::Intrinsic::nvvm_activemask, {}), ScalarType::b32);
}

}  // namespace sluice::ptx::lift_detail
