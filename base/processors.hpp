// The processors that this process may run on, and which of them a thread runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sluice {

// available_processors() is how many processors this process has, 1 at least: those that it may run
// on, or as many as processor_quota() grants where that is less. Thread-safe.
uint32_t available_processors(const std::string& root = "");

// processor_quota() is how many processors' time the control groups of this process grant it, as a
// container's do (`docker run --cpus`): rounded up, 1 at least, and nothing where no group sets a
// limit. It reads `root`/proc/self/cgroup and `root`/sys/fs/cgroup, of version 2 (`cpu.max`) and 1
// (`cpu.cfs_quota_us`). Thread-safe.
std::optional<uint32_t> processor_quota(const std::string& root = "");

// no_processor stands for one that isn't known.
constexpr int no_processor = -1;

// current_processor() is the number of the one that runs the caller. Thread-safe.
int current_processor();

// move_away() moves the calling thread to a processor other than `taken`, where it may run on one,
// and leaves it where it is otherwise. The scheduler is free to move it on. It takes some
// microseconds: for threads that would otherwise share a processor while another is idle. Linux
// wakes a thread where it ran last, and where the few processors of a cache have been busy, it
// looks for an idle one only at the next balance, milliseconds later. Thread-safe.
void move_away(std::span<const int> taken);

}  // namespace sluice
