#include "runtime/code/buffers.hpp"

#include <algorithm>

namespace sluice::runtime {

using Places = boost::icl::interval_map<uint64_t, dro::BufferId>::interval_type;

dro::BufferId Buffers::add(uint64_t address, uint64_t bytes, Memory memory) {
  displace(address, bytes);
  buffers_.set({Places::right_open(address, address + bytes), ++last_});
  if (memory == Memory::host_may_watch) watched_.insert(last_);
  tracker_.tell([buffer = last_, bytes](dro::DependenceTracker& tracker) {
    tracker.buffer_created(buffer, bytes);
  });
  return last_;
}

void Buffers::displace(uint64_t address, uint64_t bytes) {
  ++changes_;
  const auto place = Places::right_open(address, address + bytes);
  for (auto old = buffers_.find(place); old != buffers_.end(); old = buffers_.find(place))
    remove({.buffer = old->second,
            .address = old->first.lower(),
            .bytes = old->first.upper() - old->first.lower()});
}

void Buffers::remove(uint64_t address) {
  ++changes_;
  const std::optional<Allocation> gone = find(address);
  if (gone && gone->address == address) remove(*gone);
}

void Buffers::remove(const Allocation& gone) {
  watched_.erase(gone.buffer);
  buffers_.erase(Places::right_open(gone.address, gone.address + gone.bytes));
  tracker_.tell([gone](dro::DependenceTracker& tracker) { tracker.buffer_destroyed(gone.buffer); });
  observers_.tell(&Observer::buffer_destroyed, gone.buffer);
}

std::optional<Allocation> Buffers::find(uint64_t address) const {
  const auto entry = buffers_.find(address);
  if (entry == buffers_.end()) return std::nullopt;
  return Allocation{entry->second, entry->first.lower(),
                    entry->first.upper() - entry->first.lower(), watched_.contains(entry->second)};
}

void Buffers::written(uint64_t address, uint64_t bytes) {
  const std::optional<Allocation> found = find(address);
  if (!found || bytes == 0) return;
  const uint64_t begin = address - found->address;
  const uint64_t end = begin + std::min(bytes, found->bytes - begin);
  tracker_.tell([buffer = found->buffer, begin, end](dro::DependenceTracker& tracker) {
    tracker.host_write(buffer, begin, end);
  });
  const Range bytes_written{static_cast<int64_t>(begin), static_cast<int64_t>(end)};
  observers_.tell(&Observer::written, found->buffer, bytes_written);
}

uint64_t Buffers::variable(void* code, const std::string& name, Memory memory) {
  const Result<VariablePlace> place = device_.variable(code, name.c_str());
  if (!place || place->bytes == 0) return 0;
  variable_found(code, *place, memory);
  return place->address;
}

void Buffers::variable_found(void* code, const VariablePlace& place, Memory memory) {
  const std::optional<Allocation> known = find(place.address);
  if (known && known->address == place.address && known->bytes == place.bytes) return;
  const dro::BufferId buffer = add(place.address, place.bytes, memory);
  variables_.emplace(code, place.address);
  observers_.tell(&Observer::written, buffer, Range{0, static_cast<int64_t>(place.bytes)});
}

void Buffers::code_unloaded(void* code) {
  const auto [first, last] = variables_.equal_range(code);
  for (auto variable = first; variable != last; ++variable)
    remove(variable->second);
  variables_.erase(code);
}

}  // namespace sluice::runtime
