#include "megakernel/cuda/rewrite/statements.hpp"

#include <bit>
#include <iterator>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/number/divide_up.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel {
namespace {

// With this many bits of 1 / by, rounded up, quotients of numbers below 1024 by others are exact.
constexpr unsigned bits = 20;

std::string multiply_by_reciprocal(const std::string& to, const std::string& value, uint64_t by) {
  const uint64_t reciprocal = divide_up(uint64_t{1} << bits, by);
  return fmt::format("mul.lo.u32 {0}, {1}, {2};\nshr.u32 {0}, {0}, {3};", to, value, reciprocal,
                     bits);
}

}  // namespace

void append(ptx::Block& out, const std::string& text) {
  auto module =
      ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n.func f()\n{\n" + text + "\n}\n");
  SLUICE_ASSERT(module && "the rewriter's own lines parse");
  auto& function = std::get<ptx::Function>(module->items.at(0));
  std::move(function.body.statements.begin(), function.body.statements.end(),
            std::back_inserter(out.statements));
}

std::string divide(const std::string& value, uint64_t by) {
  return std::has_single_bit(by)
             ? fmt::format("shr.u32 {0}, {0}, {1};", value, std::countr_zero(by))
             : multiply_by_reciprocal(value, value, by);
}

std::string remainder(const std::string& value, uint64_t by) {
  if (std::has_single_bit(by)) return fmt::format("and.b32 {0}, {0}, {1};", value, by - 1);
  return fmt::format(
      "{{\n.reg .b32 %sl_quotient;\n{1}\nmul.lo.u32 %sl_quotient, %sl_quotient, {2};\n"
      "sub.u32 {0}, {0}, %sl_quotient;\n}}",
      value, multiply_by_reciprocal("%sl_quotient", value, by), by);
}

}  // namespace sluice::megakernel
