#include "ptx/syntax.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice::ptx {
namespace {

struct TypeRow {
  ScalarType type;
  std::string_view name;
  uint32_t bytes;
};

// Sizes are those in memory; sub-byte types stand only in matrix instructions and count as none.
constexpr TypeRow type_rows[] = {
    {ScalarType::b1, "b1", 0},
    {ScalarType::b8, "b8", 1},
    {ScalarType::b16, "b16", 2},
    {ScalarType::b32, "b32", 4},
    {ScalarType::b64, "b64", 8},
    {ScalarType::b128, "b128", 16},
    {ScalarType::u8, "u8", 1},
    {ScalarType::u16, "u16", 2},
    {ScalarType::u32, "u32", 4},
    {ScalarType::u64, "u64", 8},
    {ScalarType::s8, "s8", 1},
    {ScalarType::s16, "s16", 2},
    {ScalarType::s32, "s32", 4},
    {ScalarType::s64, "s64", 8},
    {ScalarType::f16, "f16", 2},
    {ScalarType::f16x2, "f16x2", 4},
    {ScalarType::bf16, "bf16", 2},
    {ScalarType::bf16x2, "bf16x2", 4},
    {ScalarType::tf32, "tf32", 4},
    {ScalarType::f32, "f32", 4},
    {ScalarType::f32x2, "f32x2", 8},
    {ScalarType::f64, "f64", 8},
    {ScalarType::e4m3, "e4m3", 1},
    {ScalarType::e5m2, "e5m2", 1},
    {ScalarType::e4m3x2, "e4m3x2", 2},
    {ScalarType::e5m2x2, "e5m2x2", 2},
    {ScalarType::u16x2, "u16x2", 4},
    {ScalarType::s16x2, "s16x2", 4},
    {ScalarType::u4, "u4", 0},
    {ScalarType::s4, "s4", 0},
    {ScalarType::pred, "pred", 0},
    {ScalarType::texref, "texref", 0},
    {ScalarType::samplerref, "samplerref", 0},
    {ScalarType::surfref, "surfref", 0},
};

const TypeRow* find_row(ScalarType type) {
  auto row = std::find_if(std::begin(type_rows), std::end(type_rows),
                          [&](const TypeRow& candidate) { return candidate.type == type; });
  return row == std::end(type_rows) ? nullptr : row;
}

// saturating_multiply() keeps hostile array bounds from wrapping to a small size.
uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

}  // namespace

uint32_t size_in_bytes(ScalarType type) {
  const TypeRow* row = find_row(type);
  return row ? row->bytes : 0;
}

std::string_view name(ScalarType type) {
  const TypeRow* row = find_row(type);
  return row ? row->name : std::string_view{};
}

std::optional<ScalarType> scalar_type(std::string_view name) {
  for (const TypeRow& row : type_rows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

std::string_view name(StateSpace space) {
  switch (space) {
    case StateSpace::none:
      return {};
    case StateSpace::reg:
      return "reg";
    case StateSpace::sreg:
      return "sreg";
    case StateSpace::constant:
      return "const";
    case StateSpace::global:
      return "global";
    case StateSpace::local:
      return "local";
    case StateSpace::param:
      return "param";
    case StateSpace::shared:
      return "shared";
    case StateSpace::tex:
      return "tex";
  }
  return {};
}

bool Instruction::has_modifier(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

bool is_reference(ScalarType type) {
  return type == ScalarType::texref || type == ScalarType::samplerref ||
         type == ScalarType::surfref;
}

std::string_view Instruction::opcode_name() const {
  return opcode == Opcode::unknown ? std::string_view(unknown_opcode) : info().name;
}

bool Instruction::has_result() const {
  if (operands.empty()) return false;
  if (info().effect == Effect::barrier) return has_modifier("red");
  return info().operands.starts_with('d') || info().operands.starts_with('v');
}

Meeting Instruction::meeting() const {
  // bar.warp is a barrier of lanes.
  Meeting meeting = info().meeting;
  if (meeting == Meeting::block && has_modifier("warp")) meeting = Meeting::lanes;
  const bool has_mask = !operands.empty() && has_modifier("sync");
  return meeting == Meeting::lanes && !has_mask ? Meeting::none : meeting;
}

uint32_t Variable::aligned_to() const {
  return alignment != 0 ? alignment : std::max(1U, size_in_bytes(type) * vector_elements);
}

uint64_t Variable::bytes() const {
  uint64_t total = uint64_t{size_in_bytes(type)} * vector_elements;
  for (uint64_t dimension : dimensions)
    total = saturating_multiply(total, dimension);
  return total;
}

const Function* Module::find_function(std::string_view name) const {
  const Function* prototype = nullptr;
  for (const ModuleItem& item : items) {
    const Function* function = std::get_if<Function>(&item);
    if (!function || function->name != name) continue;
    if (function->is_definition) return function;
    if (!prototype) prototype = function;
  }
  return prototype;
}

std::vector<const Function*> Module::kernels() const {
  std::vector<const Function*> found;
  for (const ModuleItem& item : items) {
    const Function* function = std::get_if<Function>(&item);
    if (function && function->is_entry) found.push_back(function);
  }
  return found;
}

}  // namespace sluice::ptx
