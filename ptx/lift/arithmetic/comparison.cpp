// Comparisons and selections.
#include <map>

#include <llvm/IR/Constants.h>

#include "ptx/lift/arithmetic/float_helpers.hpp"
#include "ptx/lift/families.hpp"
#include "ptx/lift/flush.hpp"

namespace sluice::ptx::lift_detail {

namespace {

using Predicate = llvm::CmpInst::Predicate;

// BAD_ICMP_PREDICATE where an integer type has no such comparison.
Predicate integer_predicate(std::string_view comparison, bool with_sign) {
  using P = llvm::CmpInst;
  static const std::map<std::string_view, std::pair<Predicate, Predicate>> table = {
      {"eq", {P::ICMP_EQ, P::ICMP_EQ}},   {"ne", {P::ICMP_NE, P::ICMP_NE}},
      {"lt", {P::ICMP_SLT, P::ICMP_ULT}}, {"le", {P::ICMP_SLE, P::ICMP_ULE}},
      {"gt", {P::ICMP_SGT, P::ICMP_UGT}}, {"ge", {P::ICMP_SGE, P::ICMP_UGE}},
      {"lo", {P::ICMP_ULT, P::ICMP_ULT}}, {"ls", {P::ICMP_ULE, P::ICMP_ULE}},
      {"hi", {P::ICMP_UGT, P::ICMP_UGT}}, {"hs", {P::ICMP_UGE, P::ICMP_UGE}}};
  auto found = table.find(comparison);
  if (found == table.end()) return P::BAD_ICMP_PREDICATE;
  return with_sign ? found->second.first : found->second.second;
}

// The plain comparisons are false where an operand is NaN, those in -u are true.
Predicate float_predicate(std::string_view comparison) {
  using P = llvm::CmpInst;
  static const std::map<std::string_view, Predicate> table = {
      {"eq", P::FCMP_OEQ},  {"ne", P::FCMP_ONE},  {"lt", P::FCMP_OLT},  {"le", P::FCMP_OLE},
      {"gt", P::FCMP_OGT},  {"ge", P::FCMP_OGE},  {"equ", P::FCMP_UEQ}, {"neu", P::FCMP_UNE},
      {"ltu", P::FCMP_ULT}, {"leu", P::FCMP_ULE}, {"gtu", P::FCMP_UGT}, {"geu", P::FCMP_UGE},
      {"num", P::FCMP_ORD}, {"nan", P::FCMP_UNO}};
  auto found = table.find(comparison);
  return found == table.end() ? P::BAD_FCMP_PREDICATE : found->second;
}

// compare() gives one result for each lane.
Lanes compare(InstructionLifter& lifter, ScalarType type) {
  const auto comparison =
      lifter.modifiers.take_any({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ",
                                 "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (!comparison) lifter.refuse_invalid("its comparison is missing");
  if (is_integer(type)) {
    const Predicate predicate = integer_predicate(*comparison, is_signed(type));
    if (predicate == llvm::CmpInst::BAD_ICMP_PREDICATE) {
      lifter.refuse_invalid("integers have no ." + std::string(*comparison));
    }
    llvm::Value* left = lifter.read(1, type);
    return {lifter.ir().CreateICmp(predicate, left, lifter.read(2, type))};
  }
  const Predicate predicate = float_predicate(*comparison);
  if (predicate == llvm::CmpInst::BAD_FCMP_PREDICATE) {
    lifter.refuse_invalid("floats have no ." + std::string(*comparison));
  }
  const FloatMode mode = take_nearest_mode(lifter, type);
  const Lanes left = read_lanes(lifter, 1, mode);
  const Lanes right = read_lanes(lifter, 2, mode);
  Lanes results;
  for (size_t i = 0; i < left.size(); ++i) {
    results.push_back(lifter.ir().CreateFCmp(predicate, left[i], right[i]));
  }
  return results;
}

// combine() joins a comparison with the predicate operand where .and, .or or .xor asks for it.
llvm::Value* combine(InstructionLifter& lifter, llvm::Value* result,
                     std::optional<std::string_view> with) {
  if (!with) {
    if (lifter.operand_count() > 3) lifter.refuse_invalid("nothing says how to combine");
    return result;
  }
  llvm::Value* other = lifter.read(3, ScalarType::pred);
  if (*with == "and") return lifter.ir().CreateAnd(result, other);
  if (*with == "or") return lifter.ir().CreateOr(result, other);
  return lifter.ir().CreateXor(result, other);
}

}  // namespace

void lift_setp(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  const auto with = lifter.modifiers.take_any({"and", "or", "xor"});
  const Lanes results = compare(lifter, type);
  const auto* pair = std::get_if<PairOperand>(&lifter.operand(0).value);
  if (pair == nullptr) {
    if (results.size() > 1) lifter.refuse_invalid("a packed type needs a pair of predicates");
    return lifter.write(0, combine(lifter, results[0], with), ScalarType::pred);
  }
  // The second predicate is the other lane's, or else the negated comparison's. Both are computed
  // before either is written, since the pair may overwrite the third operand.
  llvm::Value* other = results.size() > 1 ? results[1] : lifter.ir().CreateNot(results[0]);
  llvm::Value* first = combine(lifter, results[0], with);
  llvm::Value* second = combine(lifter, other, with);
  lifter.write_register(pair->first, first, ScalarType::pred);
  lifter.write_register(pair->second, second, ScalarType::pred);
}

void lift_set(InstructionLifter& lifter) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const ScalarType result_type = lifter.take_type();
  const ScalarType type = lifter.take_type();
  const auto with = lifter.modifiers.take_any({"and", "or", "xor"});
  Lanes results = compare(lifter, type);
  for (llvm::Value*& result : results)
    result = combine(lifter, result, with);
  const ScalarType element = lane_type(result_type);
  if (is_float(element)) {
    // True is 1.0. Lanes of bf16 are computed as floats.
    if (results.size() != (element == result_type ? 1 : 2)) {
      lifter.refuse_invalid("one of its types is packed and the other is not");
    }
    llvm::Type* computed = element == ScalarType::bf16
                               ? ir.getFloatTy()
                               : value_type(lifter.ir().getContext(), element);
    for (llvm::Value*& result : results)
      result = ir.CreateUIToFP(result, computed);
    return lifter.write(0, join(lifter, results, result_type), result_type);
  }
  if (!is_integer(result_type)) lifter.refuse_unsupported("its result type is not supported");
  // True is all ones, in each half where the sources are packed.
  llvm::Type* whole = ir.getIntNTy(bit_width(result_type));
  llvm::Value* value = ir.CreateSExt(results[0], whole);
  if (results.size() > 1) {
    if (bit_width(result_type) != 32) lifter.refuse_invalid("its result type is too narrow");
    llvm::Value* high = ir.CreateShl(ir.CreateSExt(results[1], whole), 16);
    value = ir.CreateOr(ir.CreateAnd(value, ir.getInt32(0xFFFF)), high);
  }
  lifter.write(0, value, result_type);
}

void lift_selp(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  llvm::Value* condition = lifter.read(3, ScalarType::pred);
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  lifter.write(0, lifter.ir().CreateSelect(condition, left, right), type);
}

void lift_slct(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  const ScalarType test_type = lifter.take_type();
  const bool flushes = lifter.modifiers.take("ftz");
  llvm::Value* test = lifter.read(3, test_type);
  llvm::Value* condition = nullptr;
  if (test_type == ScalarType::s32) {
    condition = lifter.ir().CreateICmpSGE(test, lifter.ir().getInt32(0));
  } else if (test_type == ScalarType::f32) {
    // Not below zero: -0 selects the first; NaN selects the second.
    if (flushes) test = flush(test, lifter.ir());
    condition = lifter.ir().CreateFCmpOGE(test, llvm::ConstantFP::get(test->getType(), 0.0));
  } else {
    lifter.refuse_invalid("its second type is neither .s32 nor .f32");
  }
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  lifter.write(0, lifter.ir().CreateSelect(condition, left, right), type);
}

}  // namespace sluice::ptx::lift_detail
