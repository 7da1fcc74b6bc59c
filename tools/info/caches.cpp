#include "tools/info/caches.hpp"

#include <array>

#include <fmt/format.h>

#include "base/cache_folder.hpp"

namespace sluice::tools {

std::vector<UserCache> user_caches() {
  const auto cache = [](const char* what, const char* variable, const char* name, uint64_t bytes) {
    return UserCache{what, variable, cache_path(variable, name), bytes};
  };
  return {cache("analyses", "SLUICE_ANALYSIS_CACHE", "analysis", CacheFolder::usual_bytes),
          cache("code", "SLUICE_CODE_CACHE", "code", CacheFolder::usual_code_bytes)};
}

std::string contents_text(const UserCache& cache) {
  if (cache.path.empty()) return fmt::format("nothing is kept ({})", cache.variable);
  const CacheFolder folder(cache.path, cache.usual_bytes);
  const CacheFolder::Contents contents = folder.contents();
  return fmt::format("{}: {} {}, {} of {} at most", cache.path, contents.files,
                     contents.files == 1 ? "file" : "files", bytes_text(contents.bytes),
                     bytes_text(folder.most_bytes()));
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::array<const char*, 4> units = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double count = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; count >= 1024 && unit + 1 < units.size(); ++unit)
    count /= 1024;
  return fmt::format("{:.1f} {}", count, units[unit]);
}

}  // namespace sluice::tools
