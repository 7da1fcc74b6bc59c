// Extended precision: add.cc, addc, sub.cc, subc, mad.cc, madc and the carry flag between them.
#include "ptx/lift/families.hpp"
#include "ptx/lift/integer_helpers.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// Chain adds or subtracts values one after another and remembers whether any step overflowed.
class Chain {
 public:
  Chain(InstructionLifter& lifter, llvm::Value* first) : lifter_(lifter), value_(first) {}

  void step(llvm::Intrinsic::ID id, llvm::Value* next) {
    llvm::Value* pair = lifter_.intrinsic(id, {value_->getType()}, {value_, next});
    value_ = lifter_.ir().CreateExtractValue(pair, 0);
    llvm::Value* overflow = lifter_.ir().CreateExtractValue(pair, 1);
    overflow_ = overflow_ == nullptr ? overflow : lifter_.ir().CreateOr(overflow_, overflow);
  }
  void step_flag(llvm::Intrinsic::ID id) {
    llvm::Value* flag =
        lifter_.ir().CreateLoad(lifter_.ir().getInt1Ty(), lifter_.function().condition_code());
    step(id, lifter_.ir().CreateZExt(flag, value_->getType()));
  }
  void finish(ScalarType type, bool gives) {
    lifter_.write(0, value_, type);
    if (gives) lifter_.assign(lifter_.function().condition_code(), overflow_);
  }

 private:
  InstructionLifter& lifter_;
  llvm::Value* value_;
  llvm::Value* overflow_ = nullptr;
};

}  // namespace

void lift_add_sub_carry(InstructionLifter& lifter, ScalarType type, bool takes, bool gives) {
  const Opcode opcode = lifter.info().opcode;
  const auto id = opcode == Opcode::add || opcode == Opcode::addc
                      ? llvm::Intrinsic::uadd_with_overflow
                      : llvm::Intrinsic::usub_with_overflow;
  Chain chain(lifter, lifter.read(1, type));
  chain.step(id, lifter.read(2, type));
  if (takes) chain.step_flag(id);
  chain.finish(type, gives);
}

void lift_mad_carry(InstructionLifter& lifter, ScalarType type, bool takes, bool gives) {
  const auto part = lifter.modifiers.take_any({"lo", "hi"});
  if (!part) lifter.refuse_invalid("one of .lo and .hi is missing");
  llvm::Value* left = lifter.read(1, type);
  llvm::Value* right = lifter.read(2, type);
  llvm::Value* product = *part == "lo"
                             ? lifter.ir().CreateMul(left, right)
                             : high_half(lifter, lifter.ir().CreateMul(widen(lifter, left, type),
                                                                       widen(lifter, right, type)));
  Chain chain(lifter, product);
  chain.step(llvm::Intrinsic::uadd_with_overflow, lifter.read(3, type));
  if (takes) chain.step_flag(llvm::Intrinsic::uadd_with_overflow);
  chain.finish(type, gives);
}

void lift_carry(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (!is_integer(type)) lifter.refuse_invalid("it needs an integer type");
  const bool gives = lifter.modifiers.take("cc");
  if (lifter.info().opcode == Opcode::madc) return lift_mad_carry(lifter, type, true, gives);
  lift_add_sub_carry(lifter, type, true, gives);
}

}  // namespace sluice::ptx::lift_detail
