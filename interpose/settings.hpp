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
  uint32_t most_polls = 0;  // of the megakernel's lanes for one signal; 0: as many as it takes
  SummaryUse summary = SummaryUse::off;
  // What of the checks the CPU device looks for, beside config.checks.
  struct DeviceChecks {
    bool host = false;      // accesses of the host
    bool threads = false;   // races between threads of a block
    bool accesses = false;  // memory, by every access of every thread
    bool leaks = false;
    bool errors = false;  // failed calls that nobody asked about
  } device_checks;
  // SLUICE_ANALYSIS_CACHE, else in the user's cache folder; empty: nothing is kept.
  std::string analysis_cache;
};

// read_settings() says in the log what it does not understand, and then goes by the default.
Settings read_settings();

}  // namespace sluice::interpose
