// sluice cache: what is kept from run to run.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/cache_folder.hpp"
#include "tools/command.hpp"
#include "tools/info/caches.hpp"
#include "tools/report.hpp"

namespace sluice::tools {
namespace {

struct CacheOptions {
  bool clear = false;
  std::string limit;
};

Result<std::optional<uint64_t>> bytes_of(const std::string& limit) {
  if (limit == "usual") return std::nullopt;
  try {
    std::string text = limit;
    CLI::AsSizeValue(false)(text);
    return std::stoull(text);
  } catch (const std::exception&) {
    return invalid_input("'" + limit + "' is no number of bytes", "--limit",
                         "give one such as 500000 or 100MiB, or usual");
  }
}

int cache(const CacheOptions& options) {
  std::optional<uint64_t> most_bytes;
  if (!options.limit.empty()) {
    const auto read = bytes_of(options.limit);
    if (!read) return refuse(exit_usage, read.error());
    most_bytes = *read;
  }
  for (const UserCache& each : user_caches()) {
    if (!each.path.empty() && !options.limit.empty()) {
      const Status limited = CacheFolder::limit(each.path, most_bytes);
      if (!limited) return refuse(exit_usage, limited.error());
    }
    if (!each.path.empty()) {
      const CacheFolder folder(each.path, each.usual_bytes);
      if (options.clear) folder.clear();
      if (!options.limit.empty()) folder.drop_oldest();
    }
    fmt::print("{:<9} {}\n", each.what, contents_text(each));
  }
  return exit_success;
}

}  // namespace

void add_cache_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<CacheOptions>();
  CLI::App* command = app.add_subcommand("cache", "Show, clear and bound what is kept on disk");
  command->footer("docs/info.md says what is kept, and for how long.");
  command->add_flag("--clear", options->clear, "remove all that is kept");
  command->add_option("--limit", options->limit,
                      "from now on keep at most so many bytes in each folder (100MiB, say); usual: "
                      "as many as at first");
  command->callback([options, status] { *status = cache(*options); });
}

}  // namespace sluice::tools
