// Extended precision: add.cc, addc, sub.cc, subc, mad.cc, madc and the carry flag between them.
//
// The flag is the carry of an adder, for differences too: sub.cc adds a, ~b and 1, subc adds a, ~b
// and the flag, so the flag after either is the opposite of a borrow, and subc takes what add.cc or
// mad.cc gave as it is. That is what ptxas makes of every pair (sm_75 and sm_90: IADD3 R, P0, a, -b
// or IADD3.X R, P0, a, ~b, carry P0, then IADD3.X, IMAD.X or SEL by the same P0); the PTX manual
// says borrow and leaves mixed pairs open.
#include "ptx/lift/arithmetic/integer_helpers.hpp"
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// Chain adds or subtracts values one after another and remembers whether any step overflowed: it
// then had a carry, or a borrow.
class Chain {
 public:
  Chain(InstructionLifter& lifter, bool adds, llvm::Value* first)
      : lifter_(lifter), adds_(adds), value_(first) {}

  void step(llvm::Value* next) {
    const auto id =
        adds_ ? llvm::Intrinsic::uadd_with_overflow : llvm::Intrinsic::usub_with_overflow;
    llvm::Value* pair = lifter_.ir().CreateIntrinsic(id, {value_->getType()}, {value_, next});
    value_ = lifter_.ir().CreateExtractValue(pair, 0);
    llvm::Value* overflow = lifter_.ir().CreateExtractValue(pair, 1);
    overflow_ = overflow_ == nullptr ? overflow : lifter_.ir().CreateOr(overflow_, overflow);
  }
  void step_flag() {
    llvm::Value* flag = lifter_.ir().CreateLoad(lifter_.ir().getInt1Ty(),
                                                lifter_.function().frame().condition_code());
    step(lifter_.ir().CreateZExt(carry_or_borrow(flag), value_->getType()));
  }
  void finish(ScalarType type, bool gives) {
    lifter_.write(0, value_, type);
    if (gives)
      lifter_.assign(lifter_.function().frame().condition_code(), carry_or_borrow(overflow_));
  }

 private:
  // Its own inverse: the flag for what overflowed, and what to add or subtract for the flag.
  llvm::Value* carry_or_borrow(llvm::Value* bit) {
    return adds_ ? bit : lifter_.ir().CreateNot(bit);
  }

  InstructionLifter& lifter_;
  bool adds_;
  llvm::Value* value_;
  llvm::Value* overflow_ = nullptr;
};

}  // namespace

void lift_add_sub_carry(InstructionLifter& lifter, ScalarType type, bool takes, bool gives) {
  const Opcode opcode = lifter.info().opcode;
  const bool adds = opcode == Opcode::add || opcode == Opcode::addc;
  Chain chain(lifter, adds, lifter.read(1, type));
  chain.step(lifter.read(2, type));
  if (takes) chain.step_flag();
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
  Chain chain(lifter, true, product);
  chain.step(lifter.read(3, type));
  if (takes) chain.step_flag();
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
