#include "ptx/matrix_call.hpp"

#include <array>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace sluice::ptx::matrix_call {

unsigned elements_in_slot(Element element) {
  switch (element) {
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::s8:
    case Element::u8:
      return 4;
    case Element::s4:
    case Element::u4:
      return 8;
    case Element::b1:
      return 32;
    default:
      return 1;
  }
}

unsigned slot_bytes(const Operation& operation) {
  return operation.kind == Kind::multiply && operation.a == Element::f64 ? 8 : 4;
}

// Each of the quad pairs has all of its own matrices, over 8 lanes.
unsigned a_slots(const Operation& operation) {
  if (operation.has(quad_pairs)) return 2;
  return operation.m * operation.k / warp_lanes / elements_in_slot(operation.a);
}

unsigned b_slots(const Operation& operation) {
  if (operation.has(quad_pairs)) return 2;
  return operation.n * operation.k / warp_lanes / elements_in_slot(operation.b);
}

unsigned accumulator_slots(const Operation& operation, Element element) {
  const unsigned packed = element == Element::f16 ? 2 : 1;
  if (operation.has(quad_pairs)) return 8 / packed;
  return operation.m * operation.n / warp_lanes / packed;
}

unsigned input_slots(const Operation& operation) {
  switch (operation.kind) {
    case Kind::multiply:
      return a_slots(operation) + b_slots(operation) + accumulator_slots(operation, operation.c);
    case Kind::spread_rows:
      return 4;
    case Kind::gather_rows:
      return operation.matrices;
    case Kind::transpose:
      return 1;
  }
  SLUICE_ASSERT(false);
}

unsigned result_slots(const Operation& operation) {
  switch (operation.kind) {
    case Kind::multiply:
      return accumulator_slots(operation, operation.d);
    case Kind::spread_rows:
      return operation.matrices;
    case Kind::gather_rows:
      return 4;
    case Kind::transpose:
      return 1;
  }
  SLUICE_ASSERT(false);
}

std::string name(const Operation& operation) {
  std::string text(name_prefix);
  for (const uint8_t byte : std::bit_cast<std::array<uint8_t, sizeof(Operation)>>(operation))
    text += fmt::format("{:02x}", byte);
  return text;
}

std::optional<Operation> parse(std::string_view name) {
  if (!name.starts_with(name_prefix)) return std::nullopt;
  name.remove_prefix(name_prefix.size());
  std::array<uint8_t, sizeof(Operation)> bytes{};
  if (name.size() != 2 * bytes.size()) return std::nullopt;
  for (uint8_t& byte : bytes) {
    const char* end = name.data() + 2;
    if (std::from_chars(name.data(), end, byte, 16).ptr != end) return std::nullopt;
    name.remove_prefix(2);
  }
  return std::bit_cast<Operation>(bytes);
}

}  // namespace sluice::ptx::matrix_call
