#include "ptx/instruction_table.hpp"

#include <unordered_map>

namespace sluice::ptx {
namespace {

// The table spells opcodes with the preprocessor's `#`, so `and` becomes the text "and".
constexpr InstructionInfo rows[] = {
#define SLUICE_PTX_INSTRUCTION(opcode, enumerator, signature, effect) \
  {Opcode::enumerator, #opcode, signature, Effect::effect},
#include "ptx/instructions.def"
#undef SLUICE_PTX_INSTRUCTION
};

}  // namespace

const InstructionInfo* find_instruction(std::string_view opcode) {
  static const auto& by_name = *[] {
    auto* map = new std::unordered_map<std::string_view, const InstructionInfo*>;
    for (const InstructionInfo& row : rows)
      map->emplace(row.name, &row);
    return map;
  }();
  auto found = by_name.find(opcode);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace sluice::ptx
