#include "analysis/kernel/kernel_source.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include <llvm/IR/Module.h>

#include "ptx/parameter_layout.hpp"
#include "ptx/visit.hpp"

namespace sluice::analysis {
namespace {

// Field is a place in a parameter: its name and an offset in bytes.
using Field = std::pair<std::string, int64_t>;

// collect_pointers() finds the parameters, or fields of them, that the PTX converts between
// address spaces: the lifted code no longer tells them from numbers.
std::set<Field> collect_pointers(const ptx::Block& body) {
  std::map<std::string, Field> field_of_register;
  std::set<Field> pointers;
  ptx::for_each_instruction(body, [&](const ptx::Instruction& instruction) {
    if (instruction.operands.size() != 2) return;
    const auto* target = std::get_if<ptx::Identifier>(&instruction.operands[0].value);
    if (target == nullptr) return;
    const auto* address = std::get_if<ptx::Address>(&instruction.operands[1].value);
    if (address && instruction.opcode == ptx::Opcode::ld && instruction.has_modifier("param")) {
      field_of_register[target->name] = {address->base, address->bytes};
    }
    const auto* source = std::get_if<ptx::Identifier>(&instruction.operands[1].value);
    if (source && instruction.opcode == ptx::Opcode::cvta) {
      const auto found = field_of_register.find(source->name);
      if (found != field_of_register.end()) pointers.insert(found->second);
    }
  });
  return pointers;
}

}  // namespace

Result<KernelSource> kernel_source(llvm::LLVMContext& context, const ptx::Module& module,
                                   const ptx::Function& kernel, const ptx::LeftOut& left_out) {
  auto lifted = ptx::lift(context, module, kernel.name, left_out);
  if (!lifted) return tl::unexpected(lifted.error());
  KernelSource source;
  source.module = std::move(*lifted);
  source.kernel = kernel.name;
  const std::set<Field> pointers = collect_pointers(kernel.body);
  const auto places = ptx::parameter_layout(kernel, &source.parameter_bytes);
  for (size_t i = 0; i < places.size(); ++i) {
    const ptx::ParameterPlace& place = places[i];
    source.parameters.push_back({place.name, place.offset, place.size});
    if (kernel.parameters[i].is_pointer) source.known_pointers.insert(place.offset);
    for (const auto& [name, offset] : pointers) {
      if (name == place.name) source.known_pointers.insert(place.offset + uint32_t(offset));
    }
  }
  return source;
}

}  // namespace sluice::analysis
