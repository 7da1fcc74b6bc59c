// Scalar video instructions. Source: PTX ISA, scalar video instructions.
#include "ptx/lift/arithmetic/video.hpp"

#include <llvm/IR/Constants.h>

namespace sluice::ptx::lift_detail {

namespace {

// Selection is where a byte or half lies, the whole register where nothing is selected.
struct Selection {
  unsigned first = 0;
  unsigned bits = 32;
};

Selection selection_of(InstructionLifter& lifter, const std::string& selector) {
  if (selector.empty()) return {};
  const bool is_byte = selector[0] == 'b';
  const unsigned number = selector.size() == 2 ? static_cast<unsigned>(selector[1] - '0') : 9;
  if ((!is_byte && selector[0] != 'h') || number > (is_byte ? 3U : 1U)) {
    lifter.refuse_invalid("it selects what there is not");
  }
  return is_byte ? Selection{8 * number, 8} : Selection{16 * number, 16};
}

llvm::Value* read_selected(InstructionLifter& lifter, size_t index, bool is_signed) {
  const VideoOperand operand = video_operand(lifter, index);
  const Selection selection = selection_of(lifter, operand.selector);
  return part(lifter, lifter.read(operand.whole, ScalarType::b32), selection.first, selection.bits,
              is_signed);
}

llvm::Value* extended(InstructionLifter& lifter, llvm::Value* value, bool is_signed) {
  return part(lifter, value, 0, 32, is_signed);
}

void write_whole(InstructionLifter& lifter, const VideoOperand& to, llvm::Value* value) {
  lifter.write(to.whole, lifter.ir().CreateTrunc(value, lifter.ir().getInt32Ty()), ScalarType::b32);
}

// The third operand is put around the selected part of the result, or combined with the result.
llvm::Value* merge(InstructionLifter& lifter, const Selection& selection, llvm::Value* value,
                   llvm::Value* around) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const uint64_t mask = ((uint64_t{1} << selection.bits) - 1) << selection.first;
  llvm::Value* inside = ir.CreateAnd(ir.CreateShl(value, selection.first), mask);
  return ir.CreateOr(inside, ir.CreateAnd(around, ~mask));
}

llvm::Value* combine(InstructionLifter& lifter, std::string_view operation, llvm::Value* value,
                     llvm::Value* other) {
  llvm::IRBuilder<>& ir = lifter.ir();
  if (operation == "add") return ir.CreateAdd(value, other);
  llvm::Value* less = ir.CreateICmpSLT(value, other);
  return operation == "min" ? ir.CreateSelect(less, value, other)
                            : ir.CreateSelect(less, other, value);
}

// A shift by more than 32 counts as one by 32, or by what is left of it modulo 32.
llvm::Value* shift_amount(InstructionLifter& lifter, llvm::Value* amount) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const auto mode = lifter.modifiers.take_any({"clamp", "wrap"});
  if (!mode) lifter.refuse_invalid("it needs .clamp or .wrap");
  if (*mode == "wrap") return ir.CreateAnd(amount, 31);
  return ir.CreateSelect(ir.CreateICmpUGT(amount, ir.getInt64(32)), ir.getInt64(32), amount);
}

}  // namespace

VideoOperand video_operand(InstructionLifter& lifter, size_t index) {
  VideoOperand operand{lifter.operand(index), {}};
  auto* identifier = std::get_if<Identifier>(&operand.whole.value);
  if (identifier != nullptr) std::swap(identifier->component, operand.selector);
  return operand;
}

llvm::Value* part(InstructionLifter& lifter, llvm::Value* value, unsigned first, unsigned bits,
                  bool is_signed) {
  llvm::IRBuilder<>& ir = lifter.ir();
  value = ir.CreateTrunc(ir.CreateLShr(value, first), ir.getIntNTy(bits));
  return is_signed ? ir.CreateSExt(value, ir.getInt64Ty()) : ir.CreateZExt(value, ir.getInt64Ty());
}

llvm::Value* clamp(InstructionLifter& lifter, llvm::Value* value, unsigned bits, bool is_signed) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const int64_t low = is_signed ? -high - 1 : 0;
  llvm::Value* bounded =
      ir.CreateSelect(ir.CreateICmpSLT(value, ir.getInt64(low)), ir.getInt64(low), value);
  return ir.CreateSelect(ir.CreateICmpSGT(value, ir.getInt64(high)), ir.getInt64(high), bounded);
}

bool take_video_type(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (type != ScalarType::u32 && type != ScalarType::s32) {
    lifter.refuse_invalid("its types are .u32 and .s32");
  }
  return type == ScalarType::s32;
}

std::optional<std::string_view> take_comparison(InstructionLifter& lifter) {
  if (!lifter.info().name.starts_with("vset")) return std::nullopt;
  const auto comparison = lifter.modifiers.take_any({"eq", "ne", "lt", "le", "gt", "ge"});
  if (!comparison) lifter.refuse_invalid("its comparison is missing");
  return comparison;
}

llvm::Value* video_result(InstructionLifter& lifter, std::optional<std::string_view> comparison,
                          llvm::Value* a, llvm::Value* b) {
  llvm::IRBuilder<>& ir = lifter.ir();
  if (comparison) {
    llvm::CmpInst::Predicate predicate = llvm::CmpInst::ICMP_EQ;
    if (*comparison == "ne") predicate = llvm::CmpInst::ICMP_NE;
    if (*comparison == "lt") predicate = llvm::CmpInst::ICMP_SLT;
    if (*comparison == "le") predicate = llvm::CmpInst::ICMP_SLE;
    if (*comparison == "gt") predicate = llvm::CmpInst::ICMP_SGT;
    if (*comparison == "ge") predicate = llvm::CmpInst::ICMP_SGE;
    return ir.CreateZExt(ir.CreateICmp(predicate, a, b), ir.getInt64Ty());
  }
  llvm::Value* difference = ir.CreateSub(a, b);
  switch (lifter.info().opcode) {
    case Opcode::vadd:
    case Opcode::vadd2:
    case Opcode::vadd4:
      return ir.CreateAdd(a, b);
    case Opcode::vsub:
    case Opcode::vsub2:
    case Opcode::vsub4:
      return difference;
    case Opcode::vshl:
      return ir.CreateShl(a, b);
    case Opcode::vshr:
      return ir.CreateAShr(a, b);
    case Opcode::vmin:
    case Opcode::vmin2:
    case Opcode::vmin4:
      return combine(lifter, "min", a, b);
    case Opcode::vmax:
    case Opcode::vmax2:
    case Opcode::vmax4:
      return combine(lifter, "max", a, b);
    case Opcode::vavrg2:
    case Opcode::vavrg4: {
      // Halves are rounded away from zero.
      llvm::Value* sum = ir.CreateAdd(a, b);
      llvm::Value* up = ir.CreateZExt(ir.CreateICmpSGE(sum, ir.getInt64(0)), ir.getInt64Ty());
      return ir.CreateAShr(ir.CreateAdd(sum, up), 1);
    }
    default:  // vabsdiff
      return ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, difference, ir.getFalse());
  }
}

void lift_video(InstructionLifter& lifter) {
  const Opcode opcode = lifter.info().opcode;
  const auto comparison = take_comparison(lifter);
  // vset gives 0 or 1 and names no type for it.
  const bool gives_signed = !comparison && take_video_type(lifter);
  const bool a_signed = take_video_type(lifter);
  const bool b_signed = take_video_type(lifter);
  const auto second = lifter.modifiers.take_any({"add", "min", "max"});
  llvm::Value* a = read_selected(lifter, 1, a_signed);
  llvm::Value* b = read_selected(lifter, 2, b_signed);
  if (opcode == Opcode::vshl || opcode == Opcode::vshr) b = shift_amount(lifter, b);
  const VideoOperand to = video_operand(lifter, 0);
  const Selection selection = selection_of(lifter, to.selector);
  llvm::Value* value = video_result(lifter, comparison, a, b);
  if (lifter.modifiers.take("sat")) value = clamp(lifter, value, selection.bits, gives_signed);
  const bool has_third = lifter.operand_count() == 4;
  if (has_third != (second || !to.selector.empty()) || (second && !to.selector.empty())) {
    lifter.refuse_invalid("its third source, selector and second operation do not fit");
  }
  if (has_third) {
    llvm::Value* third = extended(lifter, lifter.read(3, ScalarType::b32), second && gives_signed);
    value = second
                ? combine(lifter, *second,
                          extended(lifter, lifter.ir().CreateTrunc(value, lifter.ir().getInt32Ty()),
                                   gives_signed),
                          third)
                : merge(lifter, selection, value, third);
  }
  write_whole(lifter, {to.whole, {}}, value);
}

// vmad.dtype.atype.btype{.sat}{.scale} d, a{.asel}, b{.bsel}, c{.po}
void lift_video_mad(InstructionLifter& lifter) {
  take_video_type(lifter);
  const bool a_signed = take_video_type(lifter);
  const bool b_signed = take_video_type(lifter);
  const bool is_signed = a_signed || b_signed;
  // Products of 32 bits and what is added to them need more than 64 bits.
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Type* wide = ir.getInt128Ty();
  const auto widen = [&](llvm::Value* value) { return ir.CreateSExt(value, wide); };
  llvm::Value* value = ir.CreateMul(widen(read_selected(lifter, 1, a_signed)),
                                    widen(read_selected(lifter, 2, b_signed)));
  const VideoOperand third = video_operand(lifter, 3);
  if (!third.selector.empty() && third.selector != "po") {
    lifter.refuse_invalid("it selects what there is not");
  }
  llvm::Value* added = extended(lifter, lifter.read(third.whole, ScalarType::b32), is_signed);
  value = ir.CreateAdd(value, widen(added));
  if (third.selector == "po") value = ir.CreateAdd(value, llvm::ConstantInt::get(wide, 1));
  if (const auto scale = lifter.modifiers.take_any({"shr7", "shr15"})) {
    value = ir.CreateAShr(value, *scale == "shr7" ? 7 : 15);
  }
  if (lifter.modifiers.take("sat")) {
    const llvm::APInt high = llvm::APInt::getLowBitsSet(128, is_signed ? 31 : 32);
    const llvm::APInt low = is_signed ? ~high : llvm::APInt(128, 0);
    llvm::Value* top = llvm::ConstantInt::get(wide, high);
    llvm::Value* bottom = llvm::ConstantInt::get(wide, low);
    value = ir.CreateSelect(ir.CreateICmpSGT(value, top), top, value);
    value = ir.CreateSelect(ir.CreateICmpSLT(value, bottom), bottom, value);
  }
  write_whole(lifter, {lifter.operand(0), {}}, value);
}

}  // namespace sluice::ptx::lift_detail
