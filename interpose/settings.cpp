#include "interpose/settings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <unistd.h>

#include "base/cache_folder.hpp"
#include "base/log.hpp"
#include "dro/rule.hpp"
#include "interpose/environment.hpp"

namespace sluice::interpose {
namespace {

// number() is 0 where the variable is unset.
uint32_t number(const char* name, uint32_t most) {
  const std::string text = environment(name);
  if (text.empty()) return 0;
  uint32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && value <= most) {
    return value;
  }
  log::warning("{}: '{}' is no number from 0 to {} (now: 0)", name, text, most);
  return 0;
}

MegakernelUse megakernel_use() {
  const std::string use = environment("SLUICE_MEGAKERNEL");
  if (use.empty() || use == "0" || use == "off") return MegakernelUse::off;
  if (use == "wait") return MegakernelUse::wait;
  if (use != "background" && use != "1") {
    log::warning("SLUICE_MEGAKERNEL: '{}' is none of off, background and wait (now: background)",
                 use);
  }
  return MegakernelUse::background;
}

SummaryUse summary_use() {
  if (!is_set("SLUICE_SUMMARY")) return SummaryUse::off;
  if (environment("SLUICE_SUMMARY") != "auto") return SummaryUse::always;
  return isatty(STDERR_FILENO) == 1 ? SummaryUse::automatic : SummaryUse::off;
}

// checks() is SLUICE_CHECK: the kinds of faults to look for, between commas; 1: all that
// footprints show, and errors.
std::optional<runtime::Checks> checks(Settings::DeviceChecks& of_device) {
  if (!is_set("SLUICE_CHECK")) return std::nullopt;
  const std::string text = environment("SLUICE_CHECK");
  const std::string report = environment("SLUICE_CHECK_REPORT");
  if (text == "1") {
    of_device.errors = true;
    return runtime::Checks{.report = report};
  }
  runtime::Checks chosen{false, false, false, report};
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string kind = text.substr(begin, end - begin);
    begin = end + 1;
    bool* const chosen_kind = kind == "races"      ? &chosen.races
                              : kind == "memory"   ? &chosen.memory
                              : kind == "init"     ? &chosen.init
                              : kind == "host"     ? &of_device.host
                              : kind == "threads"  ? &of_device.threads
                              : kind == "accesses" ? &of_device.accesses
                              : kind == "leaks"    ? &of_device.leaks
                              : kind == "errors"   ? &of_device.errors
                                                   : nullptr;
    if (chosen_kind != nullptr) {
      *chosen_kind = true;
    } else {
      log::warning("SLUICE_CHECK: '{}' is no kind of faults", kind);
    }
  }
  // There the device looks at launches itself, and at when they begin.
  chosen.traces = !of_device.host && !of_device.threads && !of_device.accesses;
  return chosen;
}

// A %p in the journal's path becomes the process id, so that programs with several processes
// write one journal each.
std::string journal_path() {
  std::string path = environment("SLUICE_JOURNAL");
  const size_t place = path.find("%p");
  if (place != std::string::npos) path.replace(place, 2, std::to_string(getpid()));
  return path;
}

}  // namespace

Settings read_settings() {
  Settings settings;
  runtime::Config& config = settings.config;
  config.journal_path = journal_path();
  config.program = program_path();
  if (is_set("SLUICE_CHECK_FOOTPRINTS")) {
    config.check_blocks = number("SLUICE_CHECK_BLOCKS", UINT32_MAX);
  }
  config.checks = checks(settings.device_checks);
  config.hash_copies = is_set("SLUICE_VERIFY");
  config.time_tasks = is_set("SLUICE_TRACE");
  const std::string rule = environment("SLUICE_DEPENDENCE");
  if (rule == "buffer") {
    config.rule = dro::Rule::buffer;
  } else if (!rule.empty() && rule != "exact") {
    log::warning("SLUICE_DEPENDENCE: '{}' is no dependence rule; use exact or buffer (now: exact)",
                 rule);
  }
  const auto exclusion = runtime::Exclusion::read(environment("SLUICE_EXCLUDE"));
  if (exclusion) {
    config.exclusion = *exclusion;
  } else {
    log::warning("SLUICE_EXCLUDE: {} (now: nothing is excluded)", exclusion.error().line());
  }
  const std::string governor = environment("SLUICE_GOVERNOR");
  if (governor != "0" && governor != "off") config.policy = runtime::Policy::Config();
  // A launch that passes while its kernel is analysed is one that nobody checks.
  config.waits_for_analysis = environment("SLUICE_ANALYSIS") == "wait" || config.checks.has_value();
  if (config.policy && config.waits_for_analysis) config.policy->alone_at_first = false;
  settings.summary = summary_use();
  config.summarise = settings.summary != SummaryUse::off;
  settings.megakernel = megakernel_use();
  // Whoever waits for its code wants it used, also where it does not pay.
  if (settings.megakernel == MegakernelUse::wait) config.policy.reset();
  settings.analysis_cache = cache_path("SLUICE_ANALYSIS_CACHE", "analysis");
  config.workers = number("SLUICE_WORKERS", 65536);
  config.stress = number("SLUICE_STRESS", UINT32_MAX);
  settings.most_polls = number("SLUICE_MOST_POLLS", UINT32_MAX);
  const uint32_t launches = number("SLUICE_WINDOW_LAUNCHES", UINT32_MAX);
  if (launches != 0) config.window_launches = launches;
  return settings;
}

}  // namespace sluice::interpose
