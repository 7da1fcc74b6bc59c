#include "runtime/memory_registry.hpp"

namespace sluice::runtime {
namespace {

Allocation allocation(const auto& entry) {
  return {entry.second, entry.first.lower(), entry.first.upper() - entry.first.lower()};
}

}  // namespace

dro::BufferId MemoryRegistry::allocated(uint64_t address, uint64_t bytes,
                                        std::vector<dro::BufferId>& displaced) {
  const auto place = Map::interval_type::right_open(address, address + bytes);
  for (auto overlapping = buffers_.find(place); overlapping != buffers_.end();
       overlapping = buffers_.find(place)) {
    displaced.push_back(overlapping->second);
    const Map::interval_type whole = overlapping->first;
    buffers_.erase(whole);
  }
  buffers_.set({place, ++last_});
  return last_;
}

std::optional<Allocation> MemoryRegistry::freed(uint64_t address) {
  const auto entry = buffers_.find(address);
  if (entry == buffers_.end() || entry->first.lower() != address) return std::nullopt;
  const Allocation gone = allocation(*entry);
  const Map::interval_type whole = entry->first;
  buffers_.erase(whole);
  return gone;
}

std::optional<Allocation> MemoryRegistry::find(uint64_t address) const {
  const auto entry = buffers_.find(address);
  if (entry == buffers_.end()) return std::nullopt;
  return allocation(*entry);
}

}  // namespace sluice::runtime
