#include "runtime/faults/initialisation.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sluice::runtime {
namespace {

// pointer_of() is the pointer slot that a slot of the values is; nothing where it is none.
std::optional<size_t> pointer_of(const LaunchView& view, const analysis::ParameterSlot& slot) {
  for (size_t i = 0; i < view.bytes.slots(); ++i)
    if (view.slot(i) == slot) return i;
  return std::nullopt;
}

std::vector<Range> moved(const ByteIntervals& bytes, int64_t by) {
  std::vector<Range> ranges = bytes.ranges();
  for (Range& range : ranges)
    range = {range.begin + by, range.end + by};
  return ranges;
}

}  // namespace

void Initialisation::destroyed(dro::BufferId buffer) {
  written_.forget(buffer);
  whole_.erase(buffer);
}

void Initialisation::launched(const LaunchView& view) {
  const size_t slots = view.bytes.slots();
  for (size_t slot = 0; slot < slots; ++slot)
    judge(view, slot);
  for (size_t slot = 0; slot < slots; ++slot) {
    write(view, slot, Use::must_writes);
    write(view, slot, Use::may_writes);
  }
}

void Initialisation::judge(const LaunchView& view, size_t slot) {
  const dro::BufferId buffer = view.bound(slot).buffer;
  if (counts_as_written(buffer) || !view.bytes.is_exact(slot, Use::reads)) return;
  const std::optional<Range>& hull = view.bytes.hull(slot, Use::reads);
  const int64_t begin = view.in_buffer(slot, 0);
  if (!hull || written_.holds(buffer, {hull->begin + begin, hull->end + begin})) return;
  if (told_.contains({view.kernel(), slot})) return;
  const std::optional<ByteIntervals>& reads = view.bytes.listed(slot, Use::reads);
  if (!reads || written_.missing(buffer, ByteIntervals(moved(*reads, begin))).empty()) return;
  const analysis::SlotValues* const values = view.values(slot);
  if (values == nullptr) {
    report_.in_part("what it reads cannot be followed");
    return;
  }
  if (!values->loads_are_used) return;
  const ByteIntervals missing = never_written(view, slot, *values);
  if (!missing.empty()) tell(view, slot, missing, *values);
}

// never_written() leaves out what the launch itself may have written before.
ByteIntervals Initialisation::never_written(const LaunchView& view, size_t slot,
                                            const analysis::SlotValues& values) {
  const dro::BufferId buffer = view.bound(slot).buffer;
  ByteIntervals missing = written_.missing(
      buffer, ByteIntervals(moved(*view.bytes.listed(slot, Use::reads), view.in_buffer(slot, 0))));
  for (const uint32_t number : values.written_before) {
    const std::optional<size_t> writer = pointer_of(view, view.flow()->slots[number].slot);
    if (!writer) return {};
    if (view.bound(*writer).buffer != buffer) continue;
    for (const Use use : {Use::must_writes, Use::may_writes}) {
      if (!view.bytes.access(*writer, use).present()) continue;
      const std::optional<ByteIntervals>& own = view.bytes.listed(*writer, use);
      if (view.bytes.access(*writer, use).precision == analysis::Precision::whole_buffer || !own)
        return {};
      missing = missing.without(ByteIntervals(moved(*own, view.in_buffer(*writer, 0))));
    }
  }
  // What lies outside of the buffer is another fault.
  return missing.without(ByteIntervals(std::vector<Range>{
      {INT64_MIN / 2, 0}, {static_cast<int64_t>(view.buffer_bytes(slot)), INT64_MAX / 2}}));
}

void Initialisation::tell(const LaunchView& view, size_t slot, const ByteIntervals& bytes,
                          const analysis::SlotValues& values) {
  told_.emplace(view.kernel(), slot);
  const Range first = bytes.ranges().front();
  const char* const more = bytes.ranges().size() > 1 ? " and more" : "";
  Fault fault = view.fault(
      "init", "uninitialised-read",
      fmt::format(
          "never written: {} reads bytes {} to {}{} of buffer {} ({} bytes):", view.kernel(),
          first.begin, first.end - 1, more, view.bound(slot).buffer, view.buffer_bytes(slot)));
  fault.details.push_back(fmt::format("through {}{}; no launch, copy or memset has written them",
                                      view.slot_text(slot), code_text(values.loads)));
  place(fault, values.loads);
  report_.add(fault);
}

void Initialisation::write(const LaunchView& view, size_t slot, Use use) {
  const dro::BufferId buffer = view.bound(slot).buffer;
  const analysis::Access& access = view.bytes.access(slot, use);
  if (!access.present() || counts_as_written(buffer)) return;
  const std::optional<Range>& hull = view.bytes.hull(slot, use);
  if (access.precision == analysis::Precision::whole_buffer || !hull) {
    whole_.insert(buffer);
    return;
  }
  const int64_t begin = view.in_buffer(slot, 0);
  const Range all{hull->begin + begin, hull->end + begin};
  if (written_.holds(buffer, all)) return;
  const std::optional<ByteIntervals>& bytes = view.bytes.listed(slot, use);
  if (bytes) {
    written_.add(buffer, moved(*bytes, begin));
  } else {
    written_.add(buffer, all);
  }
}

}  // namespace sluice::runtime
