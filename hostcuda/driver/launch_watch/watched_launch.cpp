#include "hostcuda/driver/launch_watch/watched_launch.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "hostcuda/driver/memory_watch/block_memory.hpp"
#include "hostcuda/driver/thread_watch/async_copies.hpp"

namespace sluice::hostcuda {
namespace {

// A block function is told its launch by its parameters' place: some runs copy the rest.
struct Running {
  std::mutex mutex;
  std::unordered_map<const void*, WatchedLaunch*> by_parameters;
};
Running& running() {
  static auto* const all = new Running;
  return *all;
}

// Blocks of earlier launches are kept, since to learn which memory a program touches takes as long
// as a small launch: so many for each of a machine's threads as there may be sizes in use at once.
constexpr size_t most_idle_blocks = 16;

}  // namespace

// Block hears of the threads of the blocks that one call runs.
class WatchedLaunch::Block final : public ThreadSink {
 public:
  explicit Block(uint32_t threads) : threads_(threads), clocks_(threads) {}

  uint32_t threads() const { return threads_; }
  // serve() is for the launch whose blocks it runs next.
  void serve(WatchedLaunch& launch) {
    launch_ = &launch;
    is_clean_ = true;
    is_data_oblivious_ = false;
    clocks_.begin_launch();
    touched_.begin_launch();
    memory_.reset();
    if (launch.faults_) memory_.emplace(*launch.faults_);
  }

  void run(uint32_t block, const SluiceBlockLaunch& launch, void* scratch) {
    block_ = block;
    scratch_ = reinterpret_cast<uintptr_t>(scratch);
    if (launch_->races_) {
      clocks_.begin_block();
      touched_.begin_block();
      copies_.begin_block();
    }
    if (memory_) memory_->begin(block, scratch_, launch_->code_.scratch_bytes);
    set_thread_sink(this);
    launch_->code_.function(&launch, block, 1, scratch);
    set_thread_sink(nullptr);
  }

  void meets(const ThreadMeeting& meeting) override {
    if (meeting.kind == ThreadMeeting::Kind::begin) {
      shared_ = {meeting.place, meeting.count};
      is_data_oblivious_ = meeting.number != 0;
      if (memory_) memory_->has_shared(meeting.place, meeting.count);
    }
    if (!launch_->races_) return;
    if (meeting.kind == ThreadMeeting::Kind::async_commit) return copies_.commit(meeting.thread);
    if (meeting.kind == ThreadMeeting::Kind::async_wait)
      return copies_.waited(meeting.thread, meeting.number);
    clocks_.meets(meeting);
  }

  void accesses(const ThreadAccess& access) override {
    if (memory_) memory_->accesses(access);
    if (!launch_->races_) return;
    const bool is_shared = shared_.holds(access.address);
    // What a thread has for itself.
    if (!is_shared && access.address - scratch_ < launch_->code_.scratch_bytes) return;
    if (is_shared) copies_.accesses(access);
    touched_.touch(access, is_shared);
  }

  // tells_all() is true where an equal launch would do the same, and nothing was wrong: `touched`
  // then gets what the blocks have accessed.
  bool tells_all(CheckedBytes::Ranges& touched) const {
    if (!is_data_oblivious_ || !is_clean_ || touched_.depends_on_values()) return false;
    if (!memory_) return true;
    if (memory_->is_all()) memory_->checked().append(touched);
    return memory_->is_all();
  }

 private:
  const uint32_t threads_;
  bool is_data_oblivious_ = false, is_clean_ = true;
  WatchedLaunch* launch_ = nullptr;
  uintptr_t scratch_ = 0;
  uint32_t block_ = 0;
  SharedMemory shared_;
  ThreadClocks clocks_;
  TouchedBytes touched_{clocks_, [this](const Conflict& conflict) {
                          is_clean_ = false;
                          launch_->races_->add(conflict, block_, shared_);
                        }};
  AsyncCopies copies_{touched_};
  std::optional<BlockMemory> memory_;
};

// IdleBlocks are those that no launch has, the last used last.
class WatchedLaunch::IdleBlocks {
 public:
  std::unique_ptr<Block> take(uint32_t threads) {
    const std::lock_guard lock(mutex_);
    const auto fits = [&](const auto& block) { return block->threads() == threads; };
    const auto found = std::ranges::find_if(blocks_, fits);
    if (found == blocks_.end()) return nullptr;
    std::unique_ptr<Block> block = std::move(*found);
    blocks_.erase(found);
    return block;
  }
  void give_back(std::vector<std::unique_ptr<Block>> blocks) {
    const std::lock_guard lock(mutex_);
    std::ranges::move(blocks, std::back_inserter(blocks_));
    if (blocks_.size() > most_idle_blocks)
      blocks_.erase(blocks_.begin(), blocks_.end() - most_idle_blocks);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

WatchedLaunch::IdleBlocks& WatchedLaunch::idle_blocks() {
  static auto* const all = new IdleBlocks;
  return *all;
}

bool WatchedLaunch::is_wanted() {
  return ThreadWatch::get() != nullptr || MemoryWatch::get() != nullptr;
}

WatchedLaunch::WatchedLaunch(const WatchedKernel& kernel, const SluiceBlockCode& code,
                             const SluiceBlockLaunch& launch)
    : kernel_(kernel),
      code_(code),
      watching_code_(code),
      launch_(launch),
      key_(KnownLaunches::key_of(kernel, launch)),
      is_right_(KnownLaunches::get().is_right(key_, kernel.call, MemoryWatch::get())) {
  if (is_right_) return;
  if (ThreadWatch* watch = ThreadWatch::get()) races_.emplace(*watch, kernel_, launch_.grid);
  if (MemoryWatch* watch = MemoryWatch::get()) faults_.emplace(*watch, kernel_, launch_.grid);
  watching_code_.function = run_blocks;
  const std::lock_guard lock(running().mutex);
  running().by_parameters[launch.parameters] = this;
}

void WatchedLaunch::learn() const {
  CheckedBytes::Ranges touched;
  const bool tell_all =
      std::ranges::all_of(free_, [&](const auto& block) { return block->tells_all(touched); });
  if (tell_all && !free_.empty()) KnownLaunches::get().learn(key_, touched, MemoryWatch::get());
}

WatchedLaunch::~WatchedLaunch() {
  if (is_right_) return;
  learn();
  idle_blocks().give_back(std::move(free_));
  const std::lock_guard lock(running().mutex);
  running().by_parameters.erase(launch_.parameters);
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
  const auto threads = static_cast<uint32_t>(kernel_.block.count());
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Block> block = std::move(free_.back());
      free_.pop_back();
      return block;
    }
  }
  std::unique_ptr<Block> block = idle_blocks().take(threads);
  if (block == nullptr) block = std::make_unique<Block>(threads);
  block->serve(*this);
  return block;
}

}  // namespace sluice::hostcuda
