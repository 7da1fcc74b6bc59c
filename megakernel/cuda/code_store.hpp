// The linked megakernel of a process: bodies are collected, linked and loaded in the background.
#pragma once

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
// number, so code handed out once stays good. A set of bodies whose windows recur gets a module of
// its own, with no wider workers, no more registers and no more shared memory than it needs itself.
// Thread-safe.
class CodeStore {
 public:
  // With `wait`, find() answers "pending" at the first call for a body, and waits for the compiler
  // at all later ones; so does code_for() where a set begins to recur.
  CodeStore(const CudaDriver& driver, bool wait);
  ~CodeStore();

  // Loaded is a module in the driver, unloaded with its last user.
  struct Loaded {
    CUfunction function = nullptr;
    uint32_t threads = 0;  // of a worker
    // By a body's number: its number in this module, where that is another one. Empty: none is.
    std::vector<uint32_t> renumbered;
    CUmodule module = nullptr;
    const CudaDriver* driver = nullptr;
    ~Loaded();
  };

  enum class State { pending, ready, refused };
  // Found is what is known of a body; `number` is good where it is ready, `reason` where refused.
  struct Found {
    const TaskBody* body = nullptr;  // lives as long as the store
    State state = State::pending;
    uint32_t number = 0;
    std::string reason;
  };

  // add() returns the place of the kernel's body; equal bodies have one place. The context is that
  // of the calling thread, and must be the same at every call.
  Result<uint32_t> add(const ptx::Module& module, std::string_view kernel, const Dim3& block,
                       CUcontext context);

  Found find(uint32_t place);

  // forget() unloads everything, in the context of the calling thread, and begins anew, in whatever
  // context comes next. Places and numbers are good no more. Waits for the compiler.
  void forget();

  // code_for() is the module for a window with the bodies of these numbers, all of them ready, in
  // ascending order. At the `windows_to_recur`-th window a set recurs.
  std::shared_ptr<const Loaded> code_for(const std::vector<uint32_t>& numbers);
  static constexpr uint32_t windows_to_recur = 16;
  // known_code() is the module that code_for() would give now, if this is no window yet.
  std::shared_ptr<const Loaded> known_code(const std::vector<uint32_t>& numbers);

 private:
  struct Entry {
    TaskBody body;
    State state = State::pending;
    uint32_t number = 0;
    bool asked_again = false;
    std::string reason;
  };

  struct Set {
    uint32_t windows = 0;
    State state = State::ready;  // pending: it waits for its module
    std::shared_ptr<const Loaded> loaded;
  };

  void build();
  bool has_pending_body() const;
  std::map<std::vector<uint32_t>, Set>::iterator pending_set();
  std::shared_ptr<Loaded> load(const std::vector<const TaskBody*>& bodies, std::string& reason);
  // These are called with the lock held, and let go of it while the driver compiles.
  void build_pending(std::unique_lock<std::mutex>& lock);
  bool try_bodies(std::unique_lock<std::mutex>& lock, const std::vector<Entry*>& fresh);
  void build_set(std::unique_lock<std::mutex>& lock, const std::vector<uint32_t>& numbers,
                 Set& set);

  const CudaDriver& driver_;
  const bool wait_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  std::map<std::string, uint32_t> place_of_text_;
  std::vector<const TaskBody*> linked_;   // by number
  std::shared_ptr<const Loaded> loaded_;  // the newest with all of them
  std::map<std::vector<uint32_t>, Set> sets_;
  size_t modules_of_sets_ = 0;
  CUcontext context_ = nullptr;
  bool stopping_ = false;
  bool building_ = false;
  std::thread builder_;  // started by the first body
};

}  // namespace sluice::megakernel
