// Closed windows of one line on their way to a backend.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>

namespace sluice::runtime {

// Submissions are given in the order in which they were added, and without the runtime's lock: a
// driver's call may wait for room in a stream, and room may have to wait for a launch of another
// thread. Thread-safe.
class Submissions {
 public:
  using Ticket = uint64_t;

  // next() is the ticket of what add() puts off next. add() takes what throws nothing. It throws
  // std::bad_alloc, and then has taken nothing. Not for several threads at once.
  Ticket next() const;
  void add(std::function<void()> submission);
  // give_until() returns when what has this ticket, and all that was added before, are given, by
  // this thread or others; also where nothing has it. What is being given may ask so of other
  // submissions, for what was added before itself.
  void give_until(Ticket ticket) noexcept;
  bool has_given(Ticket ticket) const;

 private:
  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable is_given_;
  std::list<std::function<void()>> added_;
  Ticket given_ = 0;  // the last one
  bool is_giving_ = false;
};

}  // namespace sluice::runtime
