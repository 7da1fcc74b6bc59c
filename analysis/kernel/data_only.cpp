#include "analysis/kernel/data_only.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/visit.hpp"

namespace sluice::analysis {
namespace {

using ptx::Effect;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

using Names = std::unordered_set<std::string_view>;

// The types and other modifiers of instructions that may be left out.
bool is_usual(const std::string& modifier) {
  static const Names& usual = *new Names{
      "b8",        "b16",      "b32",      "b64",     "u8",       "u16",      "u32",    "u64",
      "s8",        "s16",      "s32",      "s64",     "f16",      "f16x2",    "f32",    "f64",
      "pred",      "bf16",     "tf32",     "rn",      "rz",       "ftz",      "sat",    "approx",
      "full",      "lo",       "hi",       "wide",    "eq",       "ne",       "lt",     "le",
      "gt",        "ge",       "equ",      "neu",     "ltu",      "leu",      "gtu",    "geu",
      "and",       "or",       "xor",      "shared",  "v2",       "v4",       "weak",   "volatile",
      "mma",       "load",     "store",    "sync",    "aligned",  "row",      "col",    "a",
      "b",         "c",        "d",        "trans",   "x1",       "x2",       "x4",     "m8n8",
      "m16n16k16", "m32n8k16", "m8n32k16", "m16n8k8", "m16n8k16", "m16n8k32", "m8n8k16"};
  return usual.contains(modifier);
}

// Registers are the names that a body declares; `.reg .f32 %f<12>` counts as "%f".
class Registers {
 public:
  explicit Registers(const ptx::Block& body) {
    ptx::for_each_statement(body, [&](const ptx::Statement& statement) {
      const auto* variable = std::get_if<ptx::Variable>(&statement);
      if (variable == nullptr || variable->space != ptx::StateSpace::reg) return;
      (variable->range_count ? ranges_ : single_).insert(variable->name);
    });
  }

  // are_all() is false where an operand names something else: a special register, a variable.
  bool are_all(const Operand& operand) const {
    if (std::holds_alternative<ptx::Address>(operand.value)) return true;
    bool are = true;
    ptx::for_each_name(operand, [&](std::string_view name) { are = are && contains(name); });
    return are;
  }

 private:
  bool contains(std::string_view name) const {
    if (name == "_" || single_.contains(name)) return true;
    const size_t last = name.find_last_not_of("0123456789");
    return last + 1 < name.size() && ranges_.contains(name.substr(0, last + 1));
  }

  Names single_, ranges_;
};

bool is_in_shared_memory(const Instruction& instruction) {
  return instruction.has_modifier("shared");
}

// Role is what an instruction does for the addresses of others.
enum class Role {
  result,  // nothing but writing operand 0
  hidden,  // nothing: it writes shared memory, and what is read from there is known to nobody
  store,   // its address matters, and the value of operand 1 does not
  other,
};

Role role_of_wmma(const Instruction& instruction) {
  if (instruction.has_modifier("mma")) return Role::result;
  const bool is_shared = is_in_shared_memory(instruction);
  if (instruction.has_modifier("load")) return is_shared ? Role::result : Role::other;
  if (!instruction.has_modifier("store")) return Role::other;
  if (is_shared) return Role::hidden;
  return instruction.has_modifier("global") ? Role::store : Role::other;
}

Role role_of(const Instruction& instruction) {
  if (instruction.operands.size() < 2) return Role::other;
  const bool is_shared = is_in_shared_memory(instruction);
  switch (instruction.opcode) {
    case Opcode::mma:
      return Role::result;
    case Opcode::wmma:
      return role_of_wmma(instruction);
    case Opcode::ld:
    case Opcode::ldmatrix:
      return is_shared ? Role::result : Role::other;
    case Opcode::st:
    case Opcode::stmatrix:
      // Asynchronous ones also complete a barrier; what is in no space may be local memory.
      if (instruction.has_modifier("async")) return Role::other;
      if (is_shared) return Role::hidden;
      return instruction.has_modifier("global") ? Role::store : Role::other;
    case Opcode::addc:
    case Opcode::subc:
    case Opcode::madc:
      return Role::other;
    default:
      break;
  }
  const bool is_pure = instruction.info().effect == Effect::none && instruction.has_result();
  return is_pure && !instruction.has_modifier("cc") ? Role::result : Role::other;
}

class DataOnly {
 public:
  explicit DataOnly(const ptx::Block& body) : registers_(body) {
    ptx::for_each_instruction(body, [&](const Instruction& instruction) { sort(instruction); });
    while (!pending_.empty()) {
      const std::string_view name = pending_.back();
      pending_.pop_back();
      const auto [first, last] = writers_.equal_range(name);
      for (auto writer = first; writer != last; ++writer) {
        if (found_.erase(writer->second) != 0) need_all(*writer->second);
      }
    }
  }

  std::unordered_set<const Instruction*> take() { return std::move(found_); }

 private:
  bool may_be_left_out(const Instruction& instruction) const {
    return std::all_of(instruction.modifiers.begin(), instruction.modifiers.end(), is_usual) &&
           std::all_of(instruction.operands.begin(), instruction.operands.end(),
                       [&](const Operand& operand) { return registers_.are_all(operand); });
  }

  void sort(const Instruction& instruction) {
    Role role = role_of(instruction);
    if (role != Role::store && !may_be_left_out(instruction)) role = Role::other;
    switch (role) {
      case Role::result:
        ptx::for_each_name(instruction.operands[0],
                           [&](std::string_view name) { writers_.emplace(name, &instruction); });
        found_.insert(&instruction);
        break;
      case Role::hidden:
        found_.insert(&instruction);
        break;
      case Role::store:
        need_guard(instruction);
        for (size_t i = 0; i < instruction.operands.size(); ++i) {
          if (i != 1) need(instruction.operands[i]);
        }
        break;
      case Role::other:
        need_all(instruction);
        break;
    }
  }

  void need_all(const Instruction& instruction) {
    need_guard(instruction);
    for (const Operand& operand : instruction.operands)
      need(operand);
  }

  void need_guard(const Instruction& instruction) {
    if (instruction.guard) need(instruction.guard->predicate);
  }

  void need(const Operand& operand) {
    ptx::for_each_name(operand, [&](std::string_view name) { need(name); });
  }

  void need(std::string_view name) {
    if (needed_.insert(name).second) pending_.push_back(name);
  }

  const Registers registers_;
  std::unordered_set<const Instruction*> found_;
  std::unordered_multimap<std::string_view, const Instruction*> writers_;
  Names needed_;
  std::vector<std::string_view> pending_;
};

}  // namespace

std::unordered_set<const Instruction*> data_only(const ptx::Block& body) {
  return DataOnly(body).take();
}

}  // namespace sluice::analysis
