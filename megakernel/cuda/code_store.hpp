// The linked megakernel of a context: bodies are collected, linked and loaded in the background.
#pragma once

#include <algorithm>
#include <compare>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/cuda_driver.hpp"

namespace sluice::megakernel {

// CodeStore. Every new body makes one new module that holds all bodies so far; a body keeps its
// number, so code handed out once stays good. It takes what registers it likes, which is best where
// there are workers enough for all blocks. Where windows recur for which there are not, all bodies
// of no greater class than theirs get a module of their own, of which as many workers fit a
// processor as of blocks of their kernels, as far as the scheduler allows. Thread-safe.
class CodeStore {
 public:
  // With `wait`, find() answers "pending" at the first call for a body, and waits for the compiler
  // at all later ones; so does crowded_code() where a class begins to recur.
  CodeStore(const CudaDriver& driver, CUcontext context, bool wait);
  // Unloads everything, in the context of the calling thread. Waits for the compiler.
  ~CodeStore();

  // Loaded is a module in the driver, unloaded with its last user.
  struct Loaded {
    CUfunction function = nullptr;
    uint32_t threads = 0;    // of a worker
    uint32_t registers = 0;  // of a thread
    std::string figures;     // of the module as the driver made it, in words
    // By a body's number: its number in this module, where that is another one, or not_held. Empty:
    // all have their own.
    std::vector<uint32_t> renumbered;
    CUmodule module = nullptr;
    const CudaDriver* driver = nullptr;
    // What the driver said of how many workers fit a processor, by their shared memory in bytes.
    mutable std::mutex occupancy_mutex;
    mutable std::map<uint64_t, uint32_t> occupancy;
    ~Loaded();
  };

  static constexpr uint32_t not_held = UINT32_MAX;

  enum class State { pending, ready, refused };
  // Found is what is known of a body; `number` is good where it is ready, `reason` where refused.
  struct Found {
    const TaskBody* body = nullptr;  // lives as long as the store
    State state = State::pending;
    uint32_t number = 0;
    std::string reason;
  };

  // add() returns the place of the kernel's body; equal bodies have one place. `registers` is how
  // many the program's own kernel takes, 0 where that is not known.
  Result<uint32_t> add(const ptx::Module& module, std::string_view kernel, const Dim3& block,
                       uint32_t registers = 0);

  Found find(uint32_t place);

  // code() is the module of all bodies; null before one is ready.
  std::shared_ptr<const Loaded> code();

  // crowded_code() is the module for a window with the bodies of these numbers, all of them ready,
  // in ascending order, which has more tasks than code() has workers. At the
  // `windows_to_recur`-th window that its module could serve a class recurs: a module takes the
  // driver's compiler a tenth of a second, in the background.
  std::shared_ptr<const Loaded> crowded_code(const std::vector<uint32_t>& numbers);
  static constexpr uint32_t windows_to_recur = 2;
  // known_code() is the module that crowded_code() would give now, if this is no window yet.
  std::shared_ptr<const Loaded> known_code(const std::vector<uint32_t>& numbers);

 private:
  // Class is how many workers fit a processor: by how wide they are, and by their registers.
  struct Class {
    uint32_t threads = 0;    // at most: a power of two
    uint32_t registers = 0;  // at most: in the pieces in which a processor gives them
    friend auto operator<=>(const Class&, const Class&) = default;
    bool holds(const Class& other) const {
      return other.threads <= threads && other.registers <= registers;
    }
    void widen(const Class& other) {
      threads = std::max(threads, other.threads);
      registers = std::max(registers, other.registers);
    }
  };
  static Class class_of(const TaskBody& body, uint32_t registers);

  struct Entry {
    TaskBody body;
    Class size;
    State state = State::pending;
    uint32_t number = 0;
    bool asked_again = false;
    std::string reason;
  };

  // Group is the bodies of a class and of lesser ones.
  struct Group {
    uint32_t windows = 0;        // that its module, as it is, does not serve
    State state = State::ready;  // pending: it waits for its module
    std::shared_ptr<const Loaded> loaded;
    bool serves(const std::vector<uint32_t>& numbers) const;
  };
  // These are called with the lock held.
  Class class_for(const std::vector<uint32_t>& numbers) const;

  void build();
  bool gains(const Class& size) const;
  bool has_pending_body() const;
  std::map<Class, Group>::iterator pending_group();
  std::shared_ptr<Loaded> load(const std::vector<const TaskBody*>& bodies, uint32_t most_registers,
                               std::string& reason);
  // These are called with the lock held, and let go of it while the driver compiles.
  void build_pending(std::unique_lock<std::mutex>& lock);
  bool try_bodies(std::unique_lock<std::mutex>& lock, const std::vector<Entry*>& fresh);
  void build_group(std::unique_lock<std::mutex>& lock, const Class& size, Group& group);
  void retire(std::unique_lock<std::mutex>& lock, std::shared_ptr<const Loaded> module);

  const CudaDriver& driver_;
  const CUcontext context_;
  const bool wait_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  std::map<std::string, uint32_t> place_of_text_;
  std::vector<const TaskBody*> linked_;   // by number
  std::vector<Class> sizes_;              // likewise
  std::shared_ptr<const Loaded> loaded_;  // the newest with all of them
  std::map<Class, Group> groups_;
  // What was before those, kept to the end where threads wait for code.
  std::vector<std::shared_ptr<const Loaded>> retired_;
  bool stopping_ = false;
  std::thread builder_;  // started by the first body
};

}  // namespace sluice::megakernel
