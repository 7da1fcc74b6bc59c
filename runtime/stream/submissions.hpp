// Closed windows of one stream on their way to a backend.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>

namespace sluice::runtime {

// Submissions are given in the order in which they were added, and without the runtime's lock: a
// driver's call may wait for room in a stream, and room may have to wait for a launch of another
// thread. Thread-safe.
class Submissions {
 public:
  // add() puts off what throws nothing. Throws std::bad_alloc.
  void add(std::function<void()> submission);
  // give() returns when all that were added before are given, by this thread or others.
  void give() noexcept;
  bool any() const { return left_ != 0; }

 private:
  std::mutex giving_;  // held while one is given
  std::mutex mutex_;   // guards what follows
  std::list<std::function<void()>> added_;
  std::atomic<size_t> left_{0};  // that have not been given to their end
};

}  // namespace sluice::runtime
