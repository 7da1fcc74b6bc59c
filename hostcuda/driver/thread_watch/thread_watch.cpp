#include "hostcuda/driver/thread_watch/thread_watch.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <execinfo.h>

namespace sluice::hostcuda {
namespace {

std::atomic<ThreadWatch*> the_watch = nullptr;

// A block function is told its launch by its parameters' place: some runs copy the rest.
struct Running {
  std::mutex mutex;
  std::unordered_map<const void*, WatchedLaunch*> by_parameters;
};
Running& running() {
  static auto* const all = new Running;
  return *all;
}

const char* kind_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::managed:
      return "managed memory";
    case MemoryKind::host:
      return "pinned memory";
    case MemoryKind::registered:
      return "registered memory";
    case MemoryKind::variable:
      return "a variable";
    default:
      return "device memory";
  }
}

void place_in(uint32_t (&to)[3], uint32_t number, const uint32_t (&extents)[3]) {
  to[0] = number % extents[0];
  to[1] = number / extents[0] % extents[1];
  to[2] = number / extents[0] / extents[1];
}

bool is_one_warp(const Conflict& conflict) {
  return conflict.earlier.thread / ThreadClocks::lanes ==
         conflict.later.thread / ThreadClocks::lanes;
}

// Lanes in step come to one instruction at once: two writes of one are in no order even then.
bool would_be_in_order(const Conflict& conflict) {
  return is_one_warp(conflict) && conflict.earlier.line != conflict.later.line;
}

}  // namespace

ThreadWatch* ThreadWatch::get() {
  return the_watch.load(std::memory_order_acquire);
}

bool ThreadWatch::watch(const AllocationTable& memory, SluiceThreadTold told, void* data) {
  if (get() != nullptr) return false;
  the_watch.store(new ThreadWatch(memory, told, data), std::memory_order_release);
  return true;
}

void ThreadWatch::tell(const SluiceThreadRace& race) {
  const std::lock_guard lock(mutex_);
  const auto line_of = [](const SluiceThreadAccess& access) {
    return access.file != nullptr ? access.line : access.ptx_line;
  };
  const auto [lower, upper] = std::minmax({line_of(race.accesses[0]), line_of(race.accesses[1])});
  const char* file = race.accesses[0].file != nullptr ? race.accesses[0].file : "";
  if (told_of_.emplace(race.kernel, file, lower, upper).second) told_(data_, &race);
}

LaunchSite LaunchSite::of_this_call() {
  LaunchSite site;
  const int depth = backtrace(site.callers.data(), static_cast<int>(site.callers.size()));
  site.depth = static_cast<size_t>(std::max(depth, 0));
  return site;
}

// Block hears of the threads of the blocks that one call runs.
class WatchedLaunch::Block final : public ThreadSink {
 public:
  explicit Block(WatchedLaunch& launch)
      : launch_(launch), clocks_(static_cast<uint32_t>(launch.of_.block.count())) {}

  void run(uint32_t block, const SluiceBlockLaunch& launch, void* scratch) {
    block_ = block;
    scratch_ = reinterpret_cast<uint64_t>(scratch);
    clocks_.begin_block();
    touched_.begin_block();
    set_thread_sink(this);
    launch_.code_.function(&launch, block, 1, scratch);
    set_thread_sink(nullptr);
  }

  void meets(const ThreadMeeting& meeting) override {
    if (meeting.kind == ThreadMeeting::Kind::begin) {
      shared_ = meeting.place;
      shared_bytes_ = meeting.count;
    }
    clocks_.meets(meeting);
  }

  void accesses(const ThreadAccess& access) override {
    const bool is_shared = access.address - shared_ < shared_bytes_;
    // What a thread has for itself.
    if (!is_shared && access.address - scratch_ < launch_.code_.scratch_bytes) return;
    touched_.touch(access, is_shared, [&](const Conflict& conflict) {
      launch_.add(conflict, block_, shared_, shared_bytes_);
    });
  }

 private:
  WatchedLaunch& launch_;
  uint64_t scratch_ = 0;
  uint32_t block_ = 0;
  uint64_t shared_ = 0, shared_bytes_ = 0;
  ThreadClocks clocks_;
  TouchedBytes touched_{clocks_};
};

WatchedLaunch::WatchedLaunch(ThreadWatch& watch, const Of& of, const SluiceBlockCode& code,
                             const SluiceBlockLaunch& launch)
    : watch_(watch), of_(of), code_(code), watching_code_(code), launch_(launch) {
  watching_code_.function = run_blocks;
  const std::lock_guard lock(running().mutex);
  running().by_parameters[launch.parameters] = this;
}

void WatchedLaunch::run_blocks(const SluiceBlockLaunch* launch, uint32_t first, uint32_t count,
                               void* scratch) {
  WatchedLaunch* self = nullptr;
  {
    const std::lock_guard lock(running().mutex);
    self = running().by_parameters.at(launch->parameters);
  }
  std::unique_ptr<Block> watched = self->take_block();
  for (uint32_t block = first; block < first + count; ++block)
    watched->run(block, *launch, scratch);
  const std::lock_guard lock(self->mutex_);
  self->free_.push_back(std::move(watched));
}

std::unique_ptr<WatchedLaunch::Block> WatchedLaunch::take_block() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Block> block = std::move(free_.back());
      free_.pop_back();
      return block;
    }
  }
  return std::make_unique<Block>(*this);
}

void WatchedLaunch::add(const Conflict& conflict, uint32_t block, uint64_t shared,
                        uint64_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  Memory memory{nullptr, shared, shared_bytes};
  if (conflict.begin - shared >= shared_bytes) {
    const auto allocation = watch_.memory().find(conflict.begin);
    // The stack of a thread that runs the block: what CUDA calls local.
    if (!allocation) return;
    memory = {kind_of(allocation->kind), allocation->address, allocation->bytes};
  }
  const auto [lower, upper] = std::minmax(conflict.earlier.line, conflict.later.line);
  const uint64_t key = memory.kind == nullptr ? 0 : memory.begin;
  Race race{conflict, block, memory, would_be_in_order(conflict)};
  race.first.begin -= memory.begin;
  race.first.end -= memory.begin;
  const auto [place, is_new] = races_.try_emplace({lower, upper, key}, race);
  if (!is_new) place->second.join(race);
}

// Threads of two warps say more than lanes of one; of what says as much the lowest block is told,
// so that every run tells the same.
void WatchedLaunch::Race::join(const Race& other) {
  const uint64_t begin = std::min(first.begin, other.first.begin);
  const uint64_t end = std::max(first.end, other.first.end);
  const bool says_more =
      is_between_lanes == other.is_between_lanes ? other.block < block : is_between_lanes;
  if (says_more) *this = other;
  first.begin = begin;
  first.end = end;
}

void WatchedLaunch::tell(const Race& race, const ptx::SourceLines& lines) {
  const uint32_t block_size[3] = {of_.block.x, of_.block.y, of_.block.z};
  SluiceThreadRace told = {};
  told.kernel = of_.kernel;
  std::ranges::copy(launch_.grid, told.grid);
  std::ranges::copy(block_size, told.block_size);
  place_in(told.block, race.block, launch_.grid);
  told.is_between_lanes = race.is_between_lanes ? 1 : 0;
  const ThreadAccess* const sides[2] = {&race.first.earlier, &race.first.later};
  std::optional<ptx::SourcePlace> places[2];
  for (int side = 0; side < 2; ++side) {
    SluiceThreadAccess& access = told.accesses[side];
    place_in(access.thread, sides[side]->thread, block_size);
    access.reads = sides[side]->kind & access_kind::reads;
    access.writes = sides[side]->kind & access_kind::writes;
    access.ptx_line = sides[side]->line;
    places[side] = lines.at(sides[side]->line);
    if (!places[side]) continue;
    access.file = places[side]->user_file().c_str();
    access.line = places[side]->user_line();
  }
  told.memory = race.memory.kind;
  told.first_byte = race.first.begin;
  told.last_byte = race.first.end - 1;
  told.memory_bytes = race.memory.bytes;
  told.site = of_.site.callers.data();
  told.site_depth = of_.site.depth;
  watch_.tell(told);
}

WatchedLaunch::~WatchedLaunch() {
  {
    const std::lock_guard lock(running().mutex);
    running().by_parameters.erase(launch_.parameters);
  }
  if (races_.empty()) return;
  const ptx::Function* kernel = of_.module.find_function(of_.kernel);
  const ptx::SourceLines lines =
      kernel != nullptr ? ptx::SourceLines(of_.module, *kernel) : ptx::SourceLines();
  // Where nvcc unrolled a loop, a line of the source is several of the PTX.
  const auto line_of = [&](uint32_t line) {
    const auto place = lines.at(line);
    return place ? std::pair(place->user_file(), place->user_line())
                 : std::pair(std::string(), line);
  };
  std::map<std::tuple<std::pair<std::string, uint32_t>, std::pair<std::string, uint32_t>, uint64_t>,
           Race>
      by_source;
  for (const auto& [key, race] : races_) {
    const auto [lower, upper] =
        std::minmax({line_of(race.first.earlier.line), line_of(race.first.later.line)});
    const auto [place, is_new] = by_source.try_emplace({lower, upper, std::get<2>(key)}, race);
    if (!is_new) place->second.join(race);
  }
  for (const auto& [key, race] : by_source)
    tell(race, lines);
}

}  // namespace sluice::hostcuda
