// Whether other processes want the processors too.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "megakernel/layout.hpp"

namespace sluice::megakernel {

// ProcessorShare is how long a thread has run, and how long it was ready to run but had to wait for
// a processor.
struct ProcessorShare {
  std::chrono::nanoseconds ran{0};
  std::chrono::nanoseconds waited{0};

  // is_crowded() holds where waiting was more than an eighth: on an idle machine a few hundredths
  // are usual.
  bool is_crowded() const { return 8 * waited > ran + waited; }
};

// parse_share() reads the kernel's text of it: both times in nanoseconds, then a count (Linux,
// Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat); nothing where it is another.
std::optional<ProcessorShare> parse_share(std::string_view text);

// share_of_main_thread() is that of the program's first thread since it started; nothing where the
// kernel doesn't say. It takes some microseconds, and leaves errno. Thread-safe.
std::optional<ProcessorShare> share_of_main_thread();

// parse_runnable() reads how many threads of the machine run or are ready to: the number before the
// slash in the kernel's text of the load (proc(5), /proc/loadavg); nothing where it is another.
std::optional<uint32_t> parse_runnable(std::string_view text);

// parse_runs() reads whether a thread runs or is ready to, from the kernel's text of its state
// (proc(5), /proc/<pid>/stat); nothing where it is another.
std::optional<bool> parse_runs(std::string_view text);

// others_want_processors() holds where there are at least as many threads ready to run as there are
// processors, not counting `own` threads, of which one is the caller, and the program's first. It
// is the state of a moment: what a thread has had to wait for shows only after some time slices. It
// takes some microseconds, and leaves errno. Thread-safe.
bool others_want_processors(uint32_t own);

// is_measured() holds where it is known of all launches what their blocks take.
bool is_measured(const Window& window);

// has_short_launches() holds where workers wait for each other all the time: in lanes, with
// launches much shorter than the time slice that one of them may lose. What was never measured
// isn't known to be short.
bool has_short_launches(const Window& window);

}  // namespace sluice::megakernel
