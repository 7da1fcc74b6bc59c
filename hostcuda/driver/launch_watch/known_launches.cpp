#include "hostcuda/driver/launch_watch/known_launches.hpp"

#include <algorithm>
#include <utility>

namespace sluice::hostcuda {
namespace {

// Some 32 MiB; whatever needs more is watched again.
constexpr size_t most_ranges = 1 << 21, most_launches = 1 << 14;

void append(std::string& key, const void* bytes, size_t count) {
  key.append(static_cast<const char*>(bytes), count);
}

}  // namespace

KnownLaunches& KnownLaunches::get() {
  static auto* const all = new KnownLaunches;
  return *all;
}

KnownLaunches::Key KnownLaunches::key_of(const WatchedKernel& kernel,
                                         const SluiceBlockLaunch& launch) {
  Key key;
  const uint64_t number = kernel.kernel.number();
  const uint32_t block[] = {kernel.block.x, kernel.block.y, kernel.block.z};
  append(key, &number, sizeof number);
  append(key, block, sizeof block);
  append(key, launch.grid, sizeof launch.grid);
  append(key, &launch.dynamic_shared_bytes, sizeof launch.dynamic_shared_bytes);
  append(key, launch.parameters, kernel.kernel.facts().parameter_bytes);
  return key;
}

bool KnownLaunches::is_right(const Key& key, uint64_t call, MemoryWatch* memory) {
  const std::lock_guard lock(mutex_);
  const auto known = launches_.find(key);
  if (known == launches_.end()) return false;
  if (memory == nullptr) return true;
  const auto all = memory->memory().all();
  std::vector<std::pair<WrittenBytes*, const Touched*>> found;
  for (const Touched& touched : known->second) {
    const auto* const held = holder(*all, touched.begin);
    if (held == nullptr || (*held)->of.id != touched.id || (*held)->is_gone(call)) return false;
    if (!(*held)->written) continue;
    WrittenBytes& written = *(*held)->written;
    if (!written.are_all_written(touched.reads)) return false;
    found.emplace_back(&written, &touched);
  }
  for (const auto& [written, touched] : found)
    written->write_all(touched->writes);
  return true;
}

void KnownLaunches::learn(const Key& key, const CheckedBytes::Ranges& touched,
                          MemoryWatch* memory) {
  Launch launch;
  if (memory != nullptr) {
    auto found = taken_apart(touched, *memory->memory().all());
    if (!found) return;
    launch = std::move(*found);
  }
  size_t ranges = 1;
  for (const Touched& each : launch)
    ranges += each.reads.size() + each.writes.size();
  const std::lock_guard lock(mutex_);
  if (ranges_ + ranges > most_ranges || launches_.size() > most_launches) {
    launches_.clear();
    ranges_ = 0;
  }
  ranges_ += ranges;
  launches_[key] = std::move(launch);
}

std::optional<KnownLaunches::Launch> KnownLaunches::taken_apart(const CheckedBytes::Ranges& touched,
                                                                const WatchedAllocations& all) {
  Launch launch;
  const auto add = [&](std::vector<Range> ranges, std::vector<Range> Touched::* side) {
    join_ranges(ranges);
    for (const Range& range : ranges) {
      const auto* const held = holder(all, static_cast<uintptr_t>(range.begin));
      if (held == nullptr || !(*held)->of.covers(static_cast<uintptr_t>(range.begin),
                                                 static_cast<size_t>(range.size())))
        return false;
      const Allocation& of = (*held)->of;
      const auto place = std::ranges::find(launch, of.id, &Touched::id);
      Touched& each =
          place != launch.end() ? *place : launch.emplace_back(Touched{of.address, of.id, {}, {}});
      const auto begin = static_cast<int64_t>(of.address);
      (each.*side).push_back({range.begin - begin, range.end - begin});
    }
    return true;
  };
  if (!add(touched.reads, &Touched::reads) || !add(touched.writes, &Touched::writes)) return {};
  return launch;
}

}  // namespace sluice::hostcuda
