#include "runtime/faults/launch_view.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "runtime/code/kernel.hpp"

namespace sluice::runtime {

const analysis::ParameterSlot& LaunchView::slot(size_t number) const {
  return launch.kernel.function->kernel->model->signature().pointers[number];
}

std::vector<std::byte> LaunchView::scalars() const {
  const std::span<const std::byte> given = launch.kernel.parameters;
  std::vector<std::byte> scalars(given.begin(), given.end());
  const auto& pointers = launch.kernel.function->kernel->model->signature().pointers;
  for (const analysis::ParameterSlot& pointer : pointers) {
    if (pointer.is_variable || pointer.offset + pointer.size > scalars.size()) continue;
    std::fill_n(scalars.begin() + pointer.offset, pointer.size, std::byte{0});
  }
  return scalars;
}

const analysis::SlotValues* LaunchView::values(size_t number) const {
  const analysis::ValueFlow* const known = flow();
  return known == nullptr ? nullptr : known->find(slot(number));
}

std::string LaunchView::kernel() const {
  return short_name(launch.kernel.function->kernel->name);
}

std::string LaunchView::slot_text(size_t number) const {
  const analysis::ParameterSlot& named = slot(number);
  if (named.is_variable) return "variable " + named.name;
  return fmt::format("argument {}",
                     argument_number(launch.kernel.function->kernel->model->signature(), named));
}

std::string LaunchView::block_text(const BlockIndex& block) const {
  const Dim3& grid = launch.kernel.call->grid;
  if (grid.z > 1) return fmt::format("block ({}, {}, {})", block.x, block.y, block.z);
  return grid.y > 1 ? fmt::format("block ({}, {})", block.x, block.y)
                    : fmt::format("block ({})", block.x);
}

Fault LaunchView::fault(const char* kind, const char* rule, std::string message) const {
  Fault fault{.kind = kind, .rule = rule};
  const Action action = action_of(launch);
  fault.kernel = kernel();
  fault.message = std::move(message);
  fault.details.push_back(action_text(action, ""));
  if (fault.details.back().ends_with(",")) fault.details.back().pop_back();
  fault.site = site_text(action.site, action.name);
  return fault;
}

std::string code_text(const std::vector<analysis::CodePlace>& places) {
  std::string text;
  std::string last;
  for (const analysis::CodePlace& place : places) {
    const std::string name =
        place.line == 0
            ? fmt::format("PTX line {}", place.ptx_line)
            : fmt::format("{}:{}", std::filesystem::path(place.file).filename().string(),
                          place.line);
    if (name == last) continue;
    text += (text.empty() ? " at " : " or ") + name;
    last = name;
  }
  return text;
}

void place(Fault& fault, const std::vector<analysis::CodePlace>& places) {
  if (places.empty() || places.front().line == 0) return;
  fault.file = places.front().file;
  fault.line = places.front().line;
}

}  // namespace sluice::runtime
