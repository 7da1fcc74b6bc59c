#include "dro/launches/interning.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace sluice::dro {
namespace {

// host_key opens the keys of the host's accesses, where those of launches have a footprint.
constexpr uint64_t host_key = UINT64_MAX;

void write_key(FootprintId footprint, std::span<const BoundArgument> arguments, Words& key) {
  key.clear();
  key.push_back(footprint);
  for (const BoundArgument& argument : arguments) {
    key.push_back(argument.buffer);
    key.push_back(argument.offset);
  }
}

}  // namespace

PatternId PatternTable::of(Words key, uint64_t step, const std::function<LaunchPattern()>& make) {
  if (const auto known = table_.find(key, step)) return *known;
  LaunchPattern made = make();
  listed_ranges_ += made.listed_ranges;
  return table_.add(std::move(key), std::move(made), step);
}

BufferSlot BufferTable::add(BufferId id, uint64_t bytes) {
  BufferSlot slot = next_;
  if (free_.empty()) {
    ++next_;
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  buffers_.emplace(id, Buffer{slot, bytes, {}});
  return slot;
}

BufferTable::Buffer BufferTable::remove(BufferId id) {
  Buffer gone = std::move(buffers_.extract(id).mapped());
  free_.push_back(gone.slot);
  return gone;
}

void BufferTable::forget(const std::function<bool(LaunchSlot, uint64_t)>& is_gone) {
  for (auto& [id, buffer] : buffers_) {
    std::erase_if(buffer.launches,
                  [&](const auto& named) { return is_gone(named.first, named.second); });
  }
}

BufferSlot LaunchTable::remove_buffer(BufferId buffer) {
  const BufferTable::Buffer gone = buffers_.remove(buffer);
  for (const auto& [slot, serial] : gone.launches) {
    if (slots_[slot].serial == serial) make_unreachable(slot);
  }
  return gone.slot;
}

std::optional<LaunchSlot> LaunchTable::known_launch() {
  const auto known = by_key_.find(key_);
  ++(known == by_key_.end() ? counts_.use.misses : counts_.use.hits);
  if (known == by_key_.end()) return std::nullopt;
  slots_[known->second].launch.last_used = step_;
  return known->second;
}

LaunchSlot LaunchTable::intern(FootprintId footprint, std::span<const BoundArgument> arguments,
                               KnownLaunch& known, Budget& budget) {
  ++step_;
  if (known.slot < slots_.size()) {
    Slot& slot = slots_[known.slot];
    if (slot.serial == known.serial && slot.launch.key != nullptr) {
      ++counts_.use.hits;
      slot.launch.last_used = step_;
      return known.slot;
    }
  }
  write_key(footprint, arguments, key_);
  const auto found = known_launch();
  known.slot = found ? *found : add_launch(bound_launch(footprint, arguments, budget));
  known.serial = slots_[known.slot].serial;
  return known.slot;
}

std::optional<LaunchSlot> LaunchTable::find(FootprintId footprint,
                                            std::span<const BoundArgument> arguments,
                                            const KnownLaunch& known) const {
  if (known.slot < slots_.size()) {
    const Slot& slot = slots_[known.slot];
    if (slot.serial == known.serial && slot.launch.key != nullptr) return known.slot;
  }
  Words key;
  write_key(footprint, arguments, key);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? std::nullopt : std::optional(found->second);
}

LaunchSlot LaunchTable::intern_host(std::span<const HostAccess> accesses) {
  ++step_;
  key_.clear();
  key_.push_back(host_key);
  for (const HostAccess& access : accesses) {
    key_.insert(key_.end(), {access.buffer, access.begin, access.end, access.writes ? 1U : 0U});
  }
  if (const auto known = known_launch()) return *known;
  return add_launch(host_launch(accesses));
}

InternedLaunch LaunchTable::bound_launch(FootprintId footprint,
                                         std::span<const BoundArgument> arguments, Budget& budget) {
  SLUICE_ASSERT(footprints_.has(footprint));
  const ParsedFootprint& source = footprints_.at(footprint);
  SLUICE_ASSERT(arguments.size() == source.arguments.size());
  footprints_.use(footprint, step_);
  InternedLaunch launch;
  std::vector<Binding> bindings;
  std::vector<uint64_t> buffer_bytes;
  // Buffers are compared each with each.
  budget.take(arguments.size() * arguments.size() / 128);
  for (const BoundArgument& argument : arguments) {
    Binding& binding = bindings.emplace_back();
    if (argument.buffer == 0) continue;
    SLUICE_ASSERT(buffers_.has(argument.buffer));
    const auto place = std::find(launch.buffers.begin(), launch.buffers.end(), argument.buffer);
    binding = {static_cast<size_t>(place - launch.buffers.begin()), argument.offset};
    if (place == launch.buffers.end()) {
      launch.buffers.push_back(argument.buffer);
      buffer_bytes.push_back(buffers_.at(argument.buffer).bytes);
    }
  }
  Words key{footprint};
  for (const Binding& binding : bindings) {
    key.push_back(binding.buffer ? *binding.buffer + 1 : 0);
    key.push_back(binding.offset);
  }
  key.insert(key.end(), buffer_bytes.begin(), buffer_bytes.end());
  launch.pattern = patterns_.of(std::move(key), step_, [&] {
    LaunchPattern pattern;
    pattern.footprint = footprint;
    pattern.grid = source.source->shape.grid;
    pattern.bindings = bindings;
    pattern.buffer_bytes = buffer_bytes;
    patterns_.bind(pattern, budget);
    return pattern;
  });
  launch.id = counts_.interned++;
  return launch;
}

InternedLaunch LaunchTable::host_launch(std::span<const HostAccess> accesses) {
  InternedLaunch launch;
  launch.host = true;
  Words key{host_key};
  for (const HostAccess& access : accesses) {
    SLUICE_ASSERT(buffers_.has(access.buffer));
    const auto place = std::find(launch.buffers.begin(), launch.buffers.end(), access.buffer);
    key.insert(key.end(), {static_cast<uint64_t>(place - launch.buffers.begin()), access.begin,
                           access.end, access.writes ? 1U : 0U});
    if (place == launch.buffers.end()) launch.buffers.push_back(access.buffer);
  }
  launch.pattern = patterns_.of(std::move(key), step_,
                                [&] { return PatternTable::of_host(accesses, launch.buffers); });
  launch.id = next_host_++;
  return launch;
}

LaunchSlot LaunchTable::add_launch(InternedLaunch launch) {
  const LaunchPattern& pattern = patterns_.at(launch.pattern);
  auto slot = static_cast<LaunchSlot>(slots_.size());
  if (free_slots_.empty()) {
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    BufferTable::Buffer& buffer = buffers_.at(launch.buffers[i]);
    buffer.launches.emplace_back(slot, slots_[slot].serial);
    const auto hull =
        joined(pattern.buffers[i].read_bytes.hull(), pattern.buffers[i].written_bytes.hull());
    if (hull) launch.places.push_back({launch.buffers[i], buffer.slot, *hull});
  }
  launch.last_used = step_;
  launch.key = &by_key_.emplace(key_, slot).first->first;
  slots_[slot].launch = std::move(launch);
  return slot;
}

}  // namespace sluice::dro
