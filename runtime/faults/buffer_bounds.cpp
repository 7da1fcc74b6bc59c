#include "runtime/faults/buffer_bounds.hpp"

#include <fmt/format.h>

namespace sluice::runtime {

void BufferBounds::launched(const LaunchView& view) {
  for (size_t slot = 0; slot < view.bytes.slots(); ++slot) {
    if (view.bound(slot).buffer == 0) continue;
    judge(view, slot, Use::must_writes);
    judge(view, slot, Use::reads);
  }
}

void BufferBounds::judge(const LaunchView& view, size_t slot, Use use) {
  if (!view.bytes.is_exact(slot, use)) return;
  const std::optional<Range>& hull = view.bytes.hull(slot, use);
  const auto bytes = static_cast<int64_t>(view.buffer_bytes(slot));
  const Range within{-view.in_buffer(slot, 0), bytes - view.in_buffer(slot, 0)};
  if (!hull || (hull->begin >= within.begin && hull->end <= within.end)) return;
  const auto outside = view.bytes.beyond(slot, use, within);
  if (!outside || !told_.insert({view.kernel(), {slot, use}}).second) return;
  const bool writes = use == Use::must_writes;
  const int64_t first = view.in_buffer(slot, outside->bytes.begin);
  const int64_t last = view.in_buffer(slot, outside->bytes.end) - 1;
  const char* const verb = writes ? "writes" : "reads";
  Fault fault = view.fault(
      "memory", "out-of-bounds",
      first < 0
          ? fmt::format("out of bounds: {} {} bytes up to {} before buffer {}:", view.kernel(),
                        verb, -first, view.bound(slot).buffer)
          : fmt::format("out of bounds: {} {} bytes {} to {} of buffer {}, which has {}:",
                        view.kernel(), verb, first, last, view.bound(slot).buffer, bytes));
  const analysis::SlotValues* const values = view.values(slot);
  const auto& places = values == nullptr ? std::vector<analysis::CodePlace>()
                       : writes          ? values->stores
                                         : values->loads;
  fault.details.push_back(fmt::format("{} is the first to, through {}{}",
                                      view.block_text(outside->block), view.slot_text(slot),
                                      code_text(places)));
  place(fault, places);
  report_.add(fault);
}

}  // namespace sluice::runtime
