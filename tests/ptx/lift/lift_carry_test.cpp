// The carry flag from each instruction that gives it to each that takes it, one row a pair.
//
// The expected values follow the machine code that ptxas 13.0 makes for sm_75 and sm_90, the same
// for both: IADD3 and IMAD.HI write the carry of their adder to a predicate, IADD3.X and IMAD.X add
// that predicate, and a difference is a sum with the operand's complement (IADD3 R, P0, a, -b; then
// IADD3.X R, P0, a, ~b, P0). 64 bits are two such halves.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

using U128 = unsigned __int128;

// Adder is what the machine code does for one instruction: it adds two addends and a carry. The
// first addend is `a`, or a half of a * b; the second is `b`, ~b, or c of a mad.
enum class First { a, low_product, high_product };
enum class Second { b, not_b, c };
enum class CarryIn { zero, one, flag };

struct Adder {
  const char* opcode;
  First first;
  Second second;
  CarryIn carry_in;
};

constexpr Adder add{"add", First::a, Second::b, CarryIn::zero};
constexpr Adder sub{"sub", First::a, Second::not_b, CarryIn::one};
constexpr Adder mad_lo{"mad.lo", First::low_product, Second::c, CarryIn::zero};
constexpr Adder mad_hi{"mad.hi", First::high_product, Second::c, CarryIn::zero};
constexpr Adder addc{"addc", First::a, Second::b, CarryIn::flag};
constexpr Adder subc{"subc", First::a, Second::not_b, CarryIn::flag};
constexpr Adder madc_lo{"madc.lo", First::low_product, Second::c, CarryIn::flag};
constexpr Adder madc_hi{"madc.hi", First::high_product, Second::c, CarryIn::flag};

struct Pair {
  Adder gives;
  Adder takes;
  // What the second of operation() gives for a = 7, b = 5 and c = 3, by hand: there only the
  // differences carry, and what follows one is greater by one than after a sum.
  uint32_t example;
};

constexpr Pair pairs[] = {
    {add, addc, 8},     {add, subc, 1},     {add, madc_lo, 22},     {add, madc_hi, 7},
    {sub, addc, 9},     {sub, subc, 2},     {sub, madc_lo, 23},     {sub, madc_hi, 8},
    {mad_lo, addc, 8},  {mad_lo, subc, 1},  {mad_lo, madc_lo, 22},  {mad_lo, madc_hi, 7},
    {mad_hi, addc, 8},  {mad_hi, subc, 1},  {mad_hi, madc_lo, 22},  {mad_hi, madc_hi, 7},
    {addc, addc, 8},    {addc, subc, 1},    {addc, madc_lo, 22},    {addc, madc_hi, 7},
    {subc, addc, 9},    {subc, subc, 2},    {subc, madc_lo, 23},    {subc, madc_hi, 8},
    {madc_lo, addc, 8}, {madc_lo, subc, 1}, {madc_lo, madc_lo, 22}, {madc_lo, madc_hi, 7},
    {madc_hi, addc, 8}, {madc_hi, subc, 1}, {madc_hi, madc_lo, 22}, {madc_hi, madc_hi, 7},
};

struct Sum {
  uint64_t value;
  bool carry;
};

Sum run(const Adder& adder, unsigned width, uint64_t a, uint64_t b, uint64_t c, bool flag) {
  const U128 mask = (U128{1} << width) - 1;
  const U128 product = (a & mask) * (b & mask);
  U128 first = a & mask;
  if (adder.first == First::low_product) first = product & mask;
  if (adder.first == First::high_product) first = product >> width;
  U128 second = b & mask;
  if (adder.second == Second::not_b) second = ~U128{b} & mask;
  if (adder.second == Second::c) second = c & mask;
  const bool carry_in = adder.carry_in == CarryIn::flag ? flag : adder.carry_in == CarryIn::one;
  const U128 sum = first + second + carry_in;
  return {static_cast<uint64_t>(sum & mask), (sum >> width) != 0};
}

std::string instruction(const Adder& adder, bool gives, unsigned width, int result,
                        const std::string& operands) {
  const std::string registers = width == 32 ? "%r" : "%rd";
  std::string text = adder.opcode;
  if (gives) text += ".cc";
  text += ".u" + std::to_string(width) + " " + registers + std::to_string(result);
  const size_t count = adder.second == Second::c ? 3 : 2;
  for (size_t i = 0; i != count; ++i)
    text += ", " + registers + operands[i];
  return text + ";\n";
}

// The operands of the first instruction are registers 0, 1, 2 and of the second 1, 2, 0; before the
// first, add.cc of 2 and 0 sets the flag.
Operation operation(const Pair& pair, unsigned width) {
  return Operation(instruction(add, true, width, 7, "20") +
                       instruction(pair.gives, true, width, 8, "012") +
                       instruction(pair.takes, false, width, 9, "120"),
                   width == 32 ? "%r9" : "%rd9");
}

std::string name(const Pair& pair, unsigned width) {
  return std::string(pair.gives.opcode) + ".cc, " + pair.takes.opcode + " of " +
         std::to_string(width) + " bits";
}

class LiftCarry : public testing::TestWithParam<unsigned> {};

TEST_P(LiftCarry, GoesFromEachToEachAsInTheMachineCode) {
  const unsigned width = GetParam();
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(name(pair, width));
    const Operation compiled = operation(pair, width);
    EXPECT_EQ(compiled(7, 5, 3), pair.example);
    for (uint64_t a : integer_edges()) {
      for (uint64_t b : integer_edges()) {
        for (uint64_t c : {uint64_t{0}, uint64_t{1}, uint64_t{0x80000000}, ~uint64_t{0}}) {
          const Sum before = run(add, width, c, a, 0, false);
          const Sum first = run(pair.gives, width, a, b, c, before.carry);
          const Sum second = run(pair.takes, width, b, c, a, first.carry);
          ASSERT_EQ(compiled(a, b, c), second.value) << a << ", " << b << ", " << c;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, LiftCarry, testing::Values(32U, 64U));

}  // namespace
}  // namespace sluice::ptx::test
