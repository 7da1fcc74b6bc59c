// What becomes of the values that a kernel moves through its pointers, which footprints, sets of
// bytes that they are, do not say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::analysis {

// CodePlace is a line of the kernel's PTX and, where the PTX names it, of its source.
struct CodePlace {
  uint32_t ptx_line = 0;
  std::string file = {};
  uint32_t line = 0;  // 0: the PTX names none
};

// SlotValues is what is known of one pointer slot. Each member errs where it must on the side that
// its comment names.
struct SlotValues {
  ParameterSlot slot;
  // A plain store may write one value in one block and another in another to the same byte. False
  // of constants, parameters, and what threads alike compute alike. Errs towards false.
  bool stores_differ = false;
  // Whatever is loaded is computed with: false where a load only moves bytes, as a copy of padding
  // does, or is never used. Errs towards false.
  bool loads_are_used = false;
  // Some load is an atomic or volatile one.
  bool has_strong_loads = false;
  // The slots of ValueFlow::slots through which some path of the code writes before it loads
  // through this one. Errs towards more of them.
  std::vector<uint32_t> written_before;
  std::vector<CodePlace> loads, stores;  // in the order of the PTX; stores: plain ones
};

struct ValueFlow {
  std::vector<SlotValues> slots;

  // find() is null where nothing is known of a slot.
  const SlotValues* find(const ParameterSlot& slot) const {
    const auto found = std::ranges::find(slots, slot, &SlotValues::slot);
    return found == slots.end() ? nullptr : &*found;
  }
};

// value_flow() lifts the kernel and looks: at launches whose scalars are those of `parameters`, a
// block laid out as the signature says; where it is empty, at all launches. An error where that
// cannot be done. Thread-safe for distinct modules, and for one that nobody changes.
Result<ValueFlow> value_flow(const ptx::Module& module, std::string_view kernel,
                             std::span<const std::byte> parameters = {});

}  // namespace sluice::analysis
