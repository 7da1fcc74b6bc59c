#include "ptx/instruction_table.hpp"

#include <unordered_map>

namespace sluice::ptx {

Opcode find_opcode(std::string_view name) {
  static const auto& by_name = *[] {
    auto* map = new std::unordered_map<std::string_view, Opcode>;
    for (const InstructionInfo& row : instruction_table)
      map->emplace(row.name, row.opcode);
    return map;
  }();
  auto found = by_name.find(name);
  return found == by_name.end() ? Opcode::unknown : found->second;
}

}  // namespace sluice::ptx
