#include "schedule/cache_sizes.hpp"

#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

namespace sluice::schedule {
namespace {

constexpr int most_caches = 16;

uint64_t sysconf_bytes(int name) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

// bytes_of() reads a size such as 1024K or 32M; 0 where it is none.
uint64_t bytes_of(std::istream& text) {
  uint64_t number = 0;
  char unit = ' ';
  if (!(text >> number)) return 0;
  text >> unit;
  if (unit == 'K') return number << 10U;
  return unit == 'M' ? number << 20U : number;
}

}  // namespace

CacheSizes read_cache_sizes(const std::string& folder) {
  CacheSizes sizes;
  int last_level = 1;
  for (int i = 0; i < most_caches; ++i) {
    const std::string cache = fmt::format("{}/index{}/", folder, i);
    std::ifstream level_file(cache + "level");
    int level = 0;
    if (!(level_file >> level)) break;
    std::ifstream size_file(cache + "size");
    const uint64_t bytes = bytes_of(size_file);
    if (level == 2) sizes.own = bytes;
    if (level <= last_level) continue;
    last_level = level;
    sizes.last = bytes;
  }
  if (sizes.last != 0) return sizes;
  sizes.own = sysconf_bytes(_SC_LEVEL2_CACHE_SIZE);
  sizes.last = sysconf_bytes(_SC_LEVEL3_CACHE_SIZE);
  if (sizes.last == 0) sizes.last = sizes.own;
  return sizes;
}

}  // namespace sluice::schedule
