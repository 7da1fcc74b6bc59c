#include "analysis/kernel_analysis.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "analysis/kernel/access_form.hpp"
#include "analysis/kernel/data_only.hpp"
#include "analysis/shape/footprint_maker.hpp"
#include "analysis/shape/shape_policy.hpp"
#include "ptx/lift.hpp"
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

struct KernelAnalysis::State {
  State(std::unique_ptr<llvm::LLVMContext> context, AccessForm form)
      : maker(std::move(context), std::move(form)), policy(maker) {}
  FootprintMaker maker;
  ShapePolicy policy;
};

Result<std::unique_ptr<KernelAnalysis>> KernelAnalysis::create(const ptx::Module& module,
                                                               std::string_view kernel) {
  const ptx::Function* function = module.find_function(kernel);
  if (function == nullptr || !function->is_entry) {
    return invalid_input("no kernel of that name in the PTX", std::string(kernel));
  }
  auto context = std::make_unique<llvm::LLVMContext>();
  auto lifted = ptx::lift(*context, module, kernel, data_only(function->body));
  if (!lifted) return tl::unexpected(lifted.error());

  KernelSource source;
  source.module = std::move(*lifted);
  source.kernel = std::string(kernel);
  const std::set<Field> pointers = collect_pointers(function->body);
  const auto places = ptx::parameter_layout(*function, &source.parameter_bytes);
  for (size_t i = 0; i < places.size(); ++i) {
    const ptx::ParameterPlace& place = places[i];
    source.parameters.push_back({place.name, place.offset, place.size});
    if (function->parameters[i].is_pointer) source.known_pointers.insert(place.offset);
    for (const auto& [name, offset] : pointers) {
      if (name == place.name) source.known_pointers.insert(place.offset + uint32_t(offset));
    }
  }
  auto form = reduce(std::move(source));
  if (!form) return tl::unexpected(form.error());
  auto state = std::make_unique<State>(std::move(context), std::move(*form));
  return std::unique_ptr<KernelAnalysis>(new KernelAnalysis(std::move(state)));
}

KernelAnalysis::KernelAnalysis(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelAnalysis::~KernelAnalysis() = default;

const KernelSignature& KernelAnalysis::signature() const {
  return state_->maker.form().signature;
}

Footprint KernelAnalysis::footprint(const LaunchShape& shape) {
  return state_->policy.footprint(shape);
}

uint64_t KernelAnalysis::analyses() const {
  return state_->policy.analyses();
}

}  // namespace sluice::analysis
