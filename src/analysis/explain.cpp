#include "analysis/explain.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "analysis/byte_runs.hpp"
#include "analysis/kernel_analysis.hpp"

namespace sluice::analysis {
namespace {

constexpr size_t most_runs_listed = 4;

// uses_register() is true where an instruction of the kernel reads `component` of a special
// register such as %tid.
bool uses_register(const ptx::Block& block, std::string_view component) {
  const auto names_it = [&](const ptx::Operand& operand) {
    const auto* identifier = std::get_if<ptx::Identifier>(&operand.value);
    return identifier && identifier->component == component &&
           (identifier->name == "%tid" || identifier->name == "%ctaid");
  };
  return std::any_of(
      block.statements.begin(), block.statements.end(), [&](const ptx::Statement& statement) {
        if (const auto* inner = std::get_if<ptx::Block>(&statement)) {
          return uses_register(*inner, component);
        }
        const auto* instruction = std::get_if<ptx::Instruction>(&statement);
        return instruction &&
               std::any_of(instruction->operands.begin(), instruction->operands.end(), names_it);
      });
}

// example_shape() is a small launch in which every dimension that the kernel uses has blocks that
// do not touch the grid's edge; sizes are the extent of the grid in threads.
LaunchShape example_shape(const ptx::Function& kernel, const KernelSignature& signature) {
  LaunchShape shape;
  if (uses_register(kernel.body, "z")) {
    shape.grid = {4, 4, 4};
    shape.block = {8, 8, 4};
  } else if (uses_register(kernel.body, "y")) {
    shape.grid = {4, 4, 1};
    shape.block = {16, 16, 1};
  } else {
    shape.grid = {4, 1, 1};
    shape.block = {64, 1, 1};
  }
  shape.shape_values.assign(signature.shape_scalars.size(), shape.grid.x * shape.block.x);
  return shape;
}

// name_of() is what a programmer calls a slot: PTX keeps the number of a parameter, not its name.
std::string name_of(const ParameterSlot& slot, const KernelSignature& signature) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const ParameterSlot& parameter = signature.parameters[i];
    if (slot.offset < parameter.offset || slot.offset >= parameter.offset + parameter.size) {
      continue;
    }
    if (slot.size == parameter.size) return fmt::format("parameter {}", i);
    return fmt::format("parameter {} (field at byte {})", i, slot.offset - parameter.offset);
  }
  return slot.name;
}

std::string runs_text(const BlockBytes& bytes) {
  std::string text =
      fmt::format("block ({}, {}, {}): ", bytes.block[0], bytes.block[1], bytes.block[2]);
  text += bytes.complete ? fmt::format("{} bytes", bytes.bytes)
                         : fmt::format("more than {} bytes", bytes.bytes);
  text +=
      bytes.runs.size() == 1 ? " in 1 range:" : fmt::format(" in {} ranges:", bytes.runs.size());
  for (size_t i = 0; i < bytes.runs.size() && i < most_runs_listed; ++i) {
    text += fmt::format(" [{}, {})", bytes.runs[i].first, bytes.runs[i].end);
  }
  if (bytes.runs.size() > most_runs_listed) {
    text += fmt::format(" ... [{}, {})", bytes.runs.back().first, bytes.runs.back().end);
  }
  return text;
}

void describe(std::string& text, const Access& access, const char* exact, const char* inexact,
              const LaunchShape& shape) {
  if (!access.present()) return;
  auto out = std::back_inserter(text);
  if (access.precision == Precision::whole_buffer) {
    fmt::format_to(out, "    {} any byte of the buffer: {}\n", inexact, access.reason);
    return;
  }
  fmt::format_to(out, "    {}", access.precision == Precision::exact ? exact : inexact);
  if (!access.reason.empty()) fmt::format_to(out, " ({})", access.reason);
  const std::array<int64_t, 3> middle = {shape.grid.x > 1, shape.grid.y > 1, shape.grid.z > 1};
  fmt::format_to(out, "\n      {}\n      {}\n",
                 runs_text(bytes_of_a_block(access.relation, middle)), access.relation);
}

std::string list_of(const std::vector<ParameterSlot>& slots, const KernelSignature& signature,
                    const char* suffix = "") {
  std::string text;
  for (const ParameterSlot& slot : slots) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", name_of(slot, signature), suffix);
  }
  return text.empty() ? "none" : text;
}

std::string explain_footprint(const ptx::Function& kernel, KernelAnalysis& analysis) {
  const KernelSignature& signature = analysis.signature();
  std::string text;
  auto out = std::back_inserter(text);
  const LaunchShape shape = example_shape(kernel, signature);
  const Footprint footprint = analysis.footprint(shape);
  if (footprint.opaque()) {
    fmt::format_to(out,
                   "  opaque: {}\n  A launch waits for all launches before it, and all after it "
                   "wait for it.\n",
                   footprint.opaque_reason);
    return text;
  }
  fmt::format_to(out, "  pointers: {}\n  shape scalars: {}\n",
                 list_of(signature.pointers, signature),
                 list_of(signature.shape_scalars, signature));
  fmt::format_to(out, "  example: grid ({}, {}, {}), block ({}, {}, {})", shape.grid.x,
                 shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z);
  for (size_t i = 0; i < signature.shape_scalars.size(); ++i) {
    fmt::format_to(out, ", {} = {}", name_of(signature.shape_scalars[i], signature),
                   shape.shape_values[i]);
  }
  text += "\n";
  for (size_t i = 0; i < footprint.arguments.size(); ++i) {
    const ArgumentFootprint& argument = footprint.arguments[i];
    fmt::format_to(out, "  {}\n", name_of(signature.pointers[i], signature));
    describe(text, argument.reads, "reads", "may read", shape);
    describe(text, argument.must_writes, "writes", "writes", shape);
    describe(text, argument.may_writes, "may write", "may write", shape);
  }
  return text;
}

std::string explain_kernel(const ptx::Module& module, const ptx::Function& kernel) {
  std::string text = fmt::format("kernel {}\n", kernel.name);
  auto analysis = KernelAnalysis::create(module, kernel.name);
  if (!analysis) {
    return text + fmt::format("  not understood: {}\n  Its launches run in stream order.\n",
                              analysis.error().line());
  }
  return text + explain_footprint(kernel, **analysis);
}

}  // namespace

Result<std::string> explain(const ptx::Module& module, std::string_view kernel) {
  std::string text;
  for (const ptx::Function* function : module.kernels()) {
    if (!kernel.empty() && function->name != kernel) continue;
    if (!text.empty()) text += "\n";
    text += explain_kernel(module, *function);
  }
  if (text.empty() && !kernel.empty()) {
    return invalid_input("no kernel of that name in the PTX", std::string(kernel));
  }
  return text;
}

}  // namespace sluice::analysis
