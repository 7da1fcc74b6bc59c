// Threads of a block that race, for `sluice check --only threads`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/dim3.hpp"
#include "hostcuda/block_abi.h"
#include "hostcuda/driver/memory/allocation_table.hpp"
#include "hostcuda/driver/thread_watch/touched_bytes.hpp"
#include "hostcuda/thread_race.h"
#include "ptx/syntax.hpp"
#include "ptx/text/source_lines.hpp"

namespace sluice::hostcuda {

// ThreadWatch is who hears of races of the whole device. Thread-safe.
class ThreadWatch {
 public:
  // get() is null where nobody asked. watch() is false where somebody did before.
  static ThreadWatch* get();
  static bool watch(const AllocationTable& memory, SluiceThreadTold told, void* data);

  ThreadWatch(const AllocationTable& memory, SluiceThreadTold told, void* data)
      : memory_(memory), told_(told), data_(data) {}

  const AllocationTable& memory() const { return memory_; }
  // tell() tells of what was not told of that kernel and these lines.
  void tell(const SluiceThreadRace& race);

 private:
  const AllocationTable& memory_;
  const SluiceThreadTold told_;
  void* const data_;
  std::mutex mutex_;
  std::set<std::tuple<std::string, std::string, uint32_t, uint32_t>> told_of_;
};

// LaunchSite is where the program launched.
struct LaunchSite {
  std::array<void*, 16> callers{};
  size_t depth = 0;
  static LaunchSite of_this_call();
};

// WatchedLaunch is one run of a launch whose blocks are watched: run() is as the block function of
// `code`, for any thread. The races are told when it goes.
class WatchedLaunch {
 public:
  struct Of {
    const char* kernel;
    const ptx::Module& module;
    Dim3 block;
    const LaunchSite& site;
  };
  WatchedLaunch(ThreadWatch& watch, const Of& of, const SluiceBlockCode& code,
                const SluiceBlockLaunch& launch);
  ~WatchedLaunch();
  WatchedLaunch(const WatchedLaunch&) = delete;

  // code() is what runs its blocks, with its launch or a copy of it.
  const SluiceBlockCode& code() const { return watching_code_; }

 private:
  class Block;
  struct Memory {
    const char* kind = nullptr;  // null: the block's shared memory
    uint64_t begin = 0;
    uint64_t bytes = 0;
  };
  struct Race {
    Conflict first;  // bytes: of all
    uint32_t block = 0;
    Memory memory;
    bool is_between_lanes = true;
    // join() adds the bytes of another race of the same lines.
    void join(const Race& other);
  };

  static void run_blocks(const SluiceBlockLaunch* launch, uint32_t first, uint32_t count,
                         void* scratch);
  std::unique_ptr<Block> take_block();
  void tell(const Race& race, const ptx::SourceLines& lines);
  void add(const Conflict& conflict, uint32_t block, uint64_t shared, uint64_t shared_bytes);

  ThreadWatch& watch_;
  const Of of_;
  const SluiceBlockCode code_;
  SluiceBlockCode watching_code_;
  const SluiceBlockLaunch launch_;
  std::mutex mutex_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Race> races_;  // by lines and memory
  std::vector<std::unique_ptr<Block>> free_;                        // that no thread uses now
};

}  // namespace sluice::hostcuda
