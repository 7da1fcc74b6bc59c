// The handler of the faults by which touches of the host are seen.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <utility>
#include <vector>

#include <execinfo.h>
#include <pthread.h>
#include <ucontext.h>

#include "hostcuda/driver/driver.hpp"
#include "hostcuda/driver/host_watch/host_watch.hpp"
#include "hostcuda/driver/stream/threads.hpp"

namespace sluice::hostcuda {
namespace {

HostWatch* the_watch = nullptr;
struct sigaction before_us = {};
thread_local int device_accesses = 0;
// Where the last fault was that came to memory which anybody may access by now.
thread_local uintptr_t tried_again = 0;

// The page-fault error code's bit that says that the access was a write.
constexpr greg_t write_fault = 2;

HostWatch::Touch touch_of(const siginfo_t& info, const ucontext_t& context) {
  HostWatch::Touch touch;
  touch.address = reinterpret_cast<uintptr_t>(info.si_addr);
  touch.writes = (context.uc_mcontext.gregs[REG_ERR] & write_fault) != 0;
  // The frames of the handler and of the signal come first.
  std::array<void*, 32> frames{};
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto* at = reinterpret_cast<void*>(context.uc_mcontext.gregs[REG_RIP]);
  const auto first = std::find(frames.begin(), frames.begin() + std::max(depth, 0), at);
  for (auto frame = first; frame != frames.begin() + depth; ++frame) {
    if (touch.depth == touch.site.size()) break;
    // The others are return addresses, behind the call.
    auto* const address = static_cast<char*>(*frame);
    touch.site[touch.depth++] = frame == first ? address + 1 : address;
  }
  return touch;
}

// serve() has all run that the touch may meet. Nobody can wait for what calls the program: its
// function may be waiting for this very thread.
void serve(const HostWatch::Touch& touch) {
  static auto* const one_at_a_time = new std::mutex;
  const std::lock_guard lock(*one_at_a_time);
  Driver* driver = Driver::get();
  const std::vector<Ticket> before = the_watch->before(touch);
  if (driver != nullptr && !before.empty() && !driver->engine.held().run_unseen(before))
    return the_watch->give_up(touch);
  the_watch->end(touch);
}

bool is_served(const siginfo_t& info, const ucontext_t& context) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  if (info.si_code != SEGV_ACCERR) return false;
  if (!the_watch->is_ours(address)) {
    // Another thread may have opened the page since.
    return std::exchange(tried_again, address) != address;
  }
  tried_again = 0;
  if (is_daemon_thread() || device_accesses > 0) {
    the_watch->open(address);
  } else {
    serve(touch_of(info, context));
  }
  return true;
}

void hand_on(int signal, siginfo_t* info, void* context) {
  if ((before_us.sa_flags & SA_SIGINFO) != 0) {
    before_us.sa_sigaction(signal, info, context);
  } else if (before_us.sa_handler != SIG_DFL && before_us.sa_handler != SIG_IGN) {
    before_us.sa_handler(signal);
  } else {
    sigaction(SIGSEGV, &before_us, nullptr);  // and the access faults again
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool served = is_served(*info, *static_cast<ucontext_t*>(context));
  errno = saved;
  if (!served) hand_on(signal, info, context);
}

}  // namespace

bool watch_host(Driver& driver, SluiceHostTold told, void* data) {
  if (the_watch != nullptr) return false;
  // What unwinding loads is loaded before a handler needs it.
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);
  the_watch = new HostWatch(driver.memory, told, data);
  driver.memory.keep_pages_apart();
  let_faults_through();
  pthread_atfork(nullptr, nullptr, [] { the_watch->open_all(); });
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  // Not blocked while a fault is served: what is told then may meet another.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &before_us);
  driver.engine.held().watch(the_watch);
  return true;
}

DeviceAccess::DeviceAccess() {
  ++device_accesses;
}

DeviceAccess::~DeviceAccess() {
  --device_accesses;
}

}  // namespace sluice::hostcuda
