// Opcodes that integers and floats share.
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

using Family = void (*)(InstructionLifter&, ScalarType);

void lift_either(InstructionLifter& lifter, Family integers, Family floats) {
  const ScalarType type = lifter.take_type();
  is_integer(type) ? integers(lifter, type) : floats(lifter, type);
}

}  // namespace

void lift_add_sub(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_add_sub, lift_float_add_sub);
}

void lift_mul(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_mul, lift_float_mul);
}

void lift_mad(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_mad, lift_float_fma);
}

void lift_div(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_div, lift_float_div);
}

void lift_min_max(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_min_max, lift_float_min_max);
}

void lift_abs(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_abs, lift_float_abs);
}

void lift_neg(InstructionLifter& lifter) {
  lift_either(lifter, lift_integer_neg, lift_float_neg);
}

}  // namespace sluice::ptx::lift_detail
