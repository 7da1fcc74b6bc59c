#include "ptx_names.hpp"

#include <fmt/format.h>

namespace sluice::analysis::random {

const char* suffix(Type type) {
  constexpr const char* names[] = {"pred", "s32", "u32", "s64", "u64"};
  return names[size_t(type)];
}

std::string special_name(uint32_t index) {
  constexpr const char* names[] = {"%tid", "%ctaid", "%ntid", "%nctaid"};
  return fmt::format("{}.{}", names[index / 3], "xyz"[index % 3]);
}

const char* comparison(Op op) {
  switch (op) {
    case Op::less:
      return "lt";
    case Op::less_equal:
      return "le";
    case Op::greater:
      return "gt";
    case Op::greater_equal:
      return "ge";
    case Op::equal:
      return "eq";
    default:
      return "ne";
  }
}

bool is_comparison(Op op) {
  return op >= Op::less && op <= Op::not_equal;
}

std::string parameter_list(const Kernel& kernel) {
  std::string list;
  const auto add = [&](const std::string& text) {
    list += (list.empty() ? "  .param " : ",\n  .param ") + text;
  };
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (i > 0 && kernel.parameters[i - 1].name == parameter.name) continue;
    const Struct* whole = nullptr;
    for (const Struct& s : kernel.structs) {
      if (s.name == parameter.name) whole = &s;
    }
    if (whole != nullptr) {
      add(fmt::format(".align 8 .b8 {}[{}]", whole->name, whole->bytes));
    } else {
      add(fmt::format(".{} {}", parameter.pointer ? "u64" : suffix(parameter.type),
                      parameter.name));
    }
  }
  return list;
}

std::string opcode(const Expression& e) {
  const unsigned bits = bits_of(e.type);
  const auto typed = [&](const char* name) { return fmt::format("{}.{}", name, suffix(e.type)); };
  const auto plain = [&](const char* name) {
    return e.type == Type::predicate ? fmt::format("{}.pred", name)
                                     : fmt::format("{}.b{}", name, bits);
  };
  switch (e.op) {
    case Op::add:
      return typed("add");
    case Op::subtract:
      return typed("sub");
    case Op::multiply:
      return typed("mul.lo");
    case Op::multiply_wide:
      return fmt::format("mul.wide.{}", suffix(e.operands[0]->type));
    case Op::divide:
      return typed("div");
    case Op::remainder:
      return typed("rem");
    case Op::shift_left:
      return plain("shl");
    case Op::shift_right:
      return typed("shr");
    case Op::bit_and:
    case Op::both:
      return plain("and");
    case Op::bit_or:
    case Op::either:
      return plain("or");
    case Op::bit_xor:
      return plain("xor");
    case Op::bit_not:
      return plain("not");
    case Op::minimum:
      return typed("min");
    case Op::maximum:
      return typed("max");
    case Op::negate:
      return typed("neg");
    default:
      return typed("abs");
  }
}

std::string launch_text(const Kernel& kernel) {
  const Dim3 &grid = kernel.grid, &block = kernel.block;
  std::string text = fmt::format("grid {}x{}x{}, block {}x{}x{}", grid.x, grid.y, grid.z, block.x,
                                 block.y, block.z);
  for (const Parameter& parameter : kernel.parameters) {
    if (parameter.pointer) continue;
    text += fmt::format(", {}+{} = {}", parameter.name, parameter.field, int64_t(parameter.value));
  }
  return text;
}

}  // namespace sluice::analysis::random
