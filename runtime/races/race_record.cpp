#include "runtime/races/race_record.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice::runtime {
namespace {

// Real is the bytes that a record's accesses touched, from where the buffer begins.
struct Real {
  ByteIntervals plain, atomic;
};

ByteIntervals common(const ByteIntervals& a, const ByteIntervals& b) {
  return a.without(a.without(b));
}

// moved() leaves out what then lies outside of the buffer.
ByteIntervals moved(const ByteIntervals& bytes, int64_t by, const AccessedBytes& where) {
  std::vector<Range> ranges;
  for (const Range& range : bytes.ranges()) {
    const Range clipped{std::max<int64_t>(range.begin + by, 0),
                        std::min(range.end + by, static_cast<int64_t>(where.bytes))};
    if (!clipped.empty()) ranges.push_back(clipped);
  }
  return ByteIntervals(std::move(ranges));
}

std::optional<Real> real(const RaceRecord& record) {
  if (record.traced != nullptr) {
    const TouchedBytes* const touched = record.traced->get();
    if (touched == nullptr) return std::nullopt;
    const auto back = -static_cast<int64_t>(record.where.address);
    const ByteIntervals& plain = record.writes ? touched->writes : touched->reads;
    Real found{moved(plain, back, record.where), {}};
    if (record.writes) found.atomic = moved(touched->atomics, back, record.where);
    return found;
  }
  if (!record.certain) return std::nullopt;
  const ByteSet& set = record.set;
  if (set.footprint == nullptr)
    return Real{ByteIntervals({{record.offset, record.offset + set.bytes}}), {}};
  const std::optional<ByteIntervals>& listed = set.footprint->listed(set.slot, set.use);
  if (!listed) return std::nullopt;
  return Real{moved(*listed, record.offset, record.where), {}};
}

}  // namespace

std::optional<ByteIntervals> common_bytes(const RaceRecord& a, const RaceRecord& b) {
  const std::optional<Real> first = real(a), second = real(b);
  if (!first || !second) return std::nullopt;
  return common(first->plain, second->plain)
      .with(common(first->atomic, second->plain))
      .with(common(first->plain, second->atomic));
}

bool is_to_come(const RaceRecord& a, const RaceRecord& b) {
  return std::ranges::any_of(std::initializer_list<const RaceRecord*>{&a, &b},
                             [](const RaceRecord* record) {
                               return record->traced != nullptr && record->traced->is_to_come();
                             });
}

}  // namespace sluice::runtime
