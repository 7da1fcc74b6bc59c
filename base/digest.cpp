#include "base/digest.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

std::string digest(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

uint64_t short_digest(std::string_view bytes, uint64_t before) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before);
}

}  // namespace sluice
