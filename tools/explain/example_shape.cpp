#include "tools/explain/example_shape.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ptx/visit.hpp"

namespace sluice::tools {
namespace {

using analysis::KernelSignature;
using analysis::LaunchShape;

// uses_index() is true where an instruction of the kernel reads `component` of %tid or %ctaid.
bool uses_index(const ptx::Block& body, std::string_view component) {
  bool uses = false;
  ptx::for_each_instruction(body, [&](const ptx::Instruction& instruction) {
    for (const ptx::Operand& operand : instruction.operands) {
      const auto* identifier = std::get_if<ptx::Identifier>(&operand.value);
      uses |= identifier && identifier->component == component &&
              (identifier->name == "%tid" || identifier->name == "%ctaid");
    }
  });
  return uses;
}

LaunchShape extents_for(const ptx::Function& kernel, const ShapeChoice& choice) {
  LaunchShape shape;
  if (uses_index(kernel.body, "z")) {
    shape.grid = {4, 4, 4};
    shape.block = {8, 8, 4};
  } else if (uses_index(kernel.body, "y")) {
    shape.grid = {4, 4, 1};
    shape.block = {16, 16, 1};
  } else {
    shape.grid = {4, 1, 1};
    shape.block = {64, 1, 1};
  }
  shape.grid = choice.grid.value_or(shape.grid);
  shape.block = choice.block.value_or(shape.block);
  shape.dynamic_shared_bytes = choice.dynamic_shared_bytes;
  return shape;
}

// touched_arguments() counts the pointers through which anything happens.
size_t touched_arguments(const analysis::Footprint& footprint) {
  if (footprint.opaque()) return footprint.arguments.size();
  return size_t(std::count_if(footprint.arguments.begin(), footprint.arguments.end(),
                              [](const analysis::ArgumentFootprint& argument) {
                                return argument.reads.present() || argument.may_writes.present() ||
                                       argument.must_writes.present();
                              }));
}

// fill_scalars() tries the extent for all, then a smaller value for one of them: a pivot that is
// as large as the matrix leaves nothing to do.
void fill_scalars(LaunchShape& shape, const std::vector<bool>& is_given,
                  analysis::KernelAnalysis& analysis) {
  const uint64_t extent = uint64_t{shape.grid.x} * shape.block.x;
  for (size_t i = 0; i < is_given.size(); ++i) {
    if (!is_given[i]) shape.shape_values[i] = extent;
  }
  LaunchShape best = shape;
  size_t most = touched_arguments(analysis.footprint(shape));
  for (const uint64_t small : {uint64_t{1}, uint64_t{0}}) {
    for (size_t i = is_given.size(); i-- > 0 && most < analysis.signature().pointers.size();) {
      if (is_given[i]) continue;
      LaunchShape other = shape;
      other.shape_values[i] = small;
      const size_t touched = touched_arguments(analysis.footprint(other));
      if (touched <= most) continue;
      best = other;
      most = touched;
    }
  }
  shape = best;
}

}  // namespace

Result<LaunchShape> shape_for(const ptx::Function& kernel, analysis::KernelAnalysis& analysis,
                              const ShapeChoice& choice) {
  const KernelSignature& signature = analysis.signature();
  LaunchShape shape = extents_for(kernel, choice);
  const size_t count = signature.shape_scalars.size();
  if (choice.shape_values) {
    if (choice.shape_values->size() != count) {
      return invalid_input("the journal's launches belong to another build of this kernel",
                           kernel.name, "run the program again with --journal");
    }
    shape.shape_values = *choice.shape_values;
    return shape;
  }
  shape.shape_values.resize(count);
  std::vector<bool> is_given(count);
  for (const auto& [number, value] : choice.arguments) {
    if (number >= signature.parameters.size()) {
      return invalid_input(fmt::format("--arg names argument {}, the kernel has {}", number,
                                       signature.parameters.size()),
                           kernel.name, "arguments count from 0");
    }
    const uint32_t offset = signature.parameters[number].offset;
    for (size_t i = 0; i < count; ++i) {
      if (signature.shape_scalars[i].offset != offset) continue;
      shape.shape_values[i] = value;
      is_given[i] = true;
    }
  }
  fill_scalars(shape, is_given, analysis);
  return shape;
}

}  // namespace sluice::tools
