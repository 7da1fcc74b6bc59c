#include "tools/verify/writers.hpp"

#include <algorithm>

#include "relation/relation_runs.hpp"

namespace sluice::tools {
namespace {

// A footprint of more blocks is not listed: it counts as if it might write all.
constexpr uint64_t most_blocks = 1U << 16U;

bool do_meet(const ByteRuns& runs, int64_t shift, const ByteRuns& others) {
  return std::ranges::any_of(runs, [&](const Range& run) {
    const Range moved{run.begin + shift, run.end + shift};
    return std::ranges::any_of(others, [&](const Range& other) { return moved.meets(other); });
  });
}

void take_away(const ByteRuns& runs, int64_t shift, ByteRuns& left) {
  for (const Range& run : runs) {
    ByteRuns kept;
    for (const Range& range : left) {
      const Range before{range.begin, std::min(range.end, run.begin + shift)};
      const Range after{std::max(range.begin, run.end + shift), range.end};
      if (!before.empty()) kept.push_back(before);
      if (!after.empty()) kept.push_back(after);
    }
    left = std::move(kept);
  }
}

// bytes_of() adds what all blocks touch to `bytes`; false where it cannot be listed.
bool bytes_of(const analysis::Footprint& footprint, const analysis::Access& access,
              ByteRuns& bytes) {
  if (!access.present()) return true;
  const Dim3& grid = footprint.shape.grid;
  if (access.precision == analysis::Precision::whole_buffer || grid.count() > most_blocks)
    return false;
  const auto runs = RelationRuns::create(access.relation);
  if (!runs) return false;
  std::vector<int64_t> values;
  for (const analysis::Symbol& symbol : footprint.symbols)
    values.push_back(symbol.value);
  for (uint32_t z = 0; z < grid.z; ++z) {
    for (uint32_t y = 0; y < grid.y; ++y) {
      for (uint32_t x = 0; x < grid.x; ++x) {
        const auto touched = (*runs)->of({x, y, z}, values);
        if (!touched) return false;
        bytes.insert(bytes.end(), touched->begin(), touched->end());
      }
    }
    join_ranges(bytes);
  }
  return true;
}

}  // namespace

const Writers::Written& Writers::written(dro::FootprintId footprint, size_t argument) {
  const auto [place, is_new] = written_.try_emplace({footprint, argument});
  Written& found = place->second;
  const auto known = process_.footprints.find(footprint);
  if (!is_new) return found;
  found.any = known == process_.footprints.end() || argument >= known->second.arguments.size();
  if (found.any) return found;
  const analysis::ArgumentFootprint& touched = known->second.arguments[argument];
  if (!bytes_of(known->second, touched.must_writes, found.must)) found.any = true;
  found.may = found.must;
  if (!bytes_of(known->second, touched.may_writes, found.may)) found.any = true;
  join_ranges(found.may);
  return found;
}

bool Writers::meet(const dro::LaunchRecord& launch, dro::BufferId buffer, ByteRuns& left) {
  const ByteRuns asked = left;
  bool meets = false;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    if (launch.arguments[i].buffer != buffer) continue;
    const Written& bytes = written(*launch.footprint, i);
    const auto shift = static_cast<int64_t>(launch.arguments[i].offset);
    meets |= bytes.any || do_meet(bytes.may, shift, asked);
    take_away(bytes.must, shift, left);
  }
  return meets;
}

bool Writers::meet_host(dro::BufferId buffer, uint64_t launches, ByteRuns& left) const {
  bool meets = false;
  for (const ProcessRecord::HostWrite& write : process_.host_writes) {
    if (write.buffer != buffer || write.launches != launches) continue;
    meets |= do_meet({write.bytes}, 0, left);
    take_away({write.bytes}, 0, left);
  }
  return meets;
}

std::vector<Writer> Writers::last_writers(dro::BufferId buffer, const Range& bytes,
                                          uint64_t launches, size_t most) {
  std::vector<Writer> found;
  ByteRuns left{bytes};
  for (uint64_t at = std::min<uint64_t>(launches, process_.summary.launches.size());; --at) {
    if (meet_host(buffer, at, left)) found.push_back({});
    if (at == 0 || left.empty() || found.size() >= most) break;
    const dro::LaunchSummary& launch = process_.summary.launches[at - 1];
    if (!launch.record.footprint) {
      found.push_back({&launch, false});
      break;
    }
    if (meet(launch.record, buffer, left)) {
      found.push_back({&launch, true});
    }
  }
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace sluice::tools
