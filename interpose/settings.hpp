// What the environment sets for the shim.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/runtime.hpp"

namespace sluice::interpose {

// MegakernelUse is SLUICE_MEGAKERNEL: off (the default), background (launches pass through until
// their code is ready) or wait (all but the first launch of a kernel wait for its code).
enum class MegakernelUse { off, background, wait };

// SummaryUse is SLUICE_SUMMARY: off (the default), auto (where stderr is a terminal and the run
// took more than a second) or always ("1").
enum class SummaryUse { off, automatic, always };

struct Settings {
  runtime::Config config;
  MegakernelUse megakernel = MegakernelUse::off;
  SummaryUse summary = SummaryUse::off;
  bool checks_host = false;     // config.checks, of the host's accesses too
  bool checks_threads = false;  // likewise, of races between threads of a block
  // SLUICE_ANALYSIS_CACHE, else in the user's cache folder; empty: nothing is kept.
  std::string analysis_cache;
};

// read_settings() says in the log what it does not understand, and then goes by the default.
Settings read_settings();

}  // namespace sluice::interpose
