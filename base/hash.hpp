// One way to mix hashes, for the keys of our own tables.
#pragma once

#include <cstddef>

#include <boost/container_hash/hash.hpp>

namespace sluice {

// hash_of() mixes the hashes of values: numbers, text, pointers, and vectors of these. It may
// differ from one version of Boost to the next, so it goes into no file.
template <class... T>
size_t hash_of(const T&... values) {
  size_t hash = 0;
  (boost::hash_combine(hash, values), ...);
  return hash;
}

}  // namespace sluice
