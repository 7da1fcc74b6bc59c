// Eviction: which entries of a full cache go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice::dro {

// least_recent() picks from (last use, id) the `count` entries that were used least recently, in
// ascending order of use and then of id: the order is the same in a replay.
template <class Id>
std::vector<Id> least_recent(std::vector<std::pair<uint64_t, Id>> entries, size_t count) {
  std::sort(entries.begin(), entries.end());
  std::vector<Id> ids;
  for (size_t i = 0; i < std::min(count, entries.size()); ++i)
    ids.push_back(entries[i].second);
  return ids;
}

// to_drop() is how many of `size` entries go where `limit` may stay: none, or down to half of it;
// where they are heavy, half of them whatever the limit.
inline size_t to_drop(size_t size, uint64_t limit, bool heavy = false) {
  const size_t beyond = size > limit ? size - static_cast<size_t>(limit / 2) : 0;
  return heavy ? std::max(beyond, (size + 1) / 2) : beyond;
}

}  // namespace sluice::dro
