#include "hostcuda/jit/library/fault_guard.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <mutex>

#include <pthread.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sluice::hostcuda::jit {
namespace {

struct Guard {
  sigjmp_buf back;
  uint8_t* fault = nullptr;
  Guard* outer = nullptr;
#if defined(__x86_64__)
  // How the thread computes, which the body may change and a jump doesn't restore.
  unsigned control = _mm_getcsr();
  void restore() const { _mm_setcsr(control); }
#else
  void restore() const {}
#endif
};

constexpr auto illegal_address_mark = static_cast<uint8_t>(illegal_address);

thread_local Guard* volatile innermost = nullptr;
std::atomic<uint64_t> fault_address{0};

struct sigaction before_segv;
struct sigaction before_bus;

// The signal goes to whoever would have had it without the device.
void hand_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = signal == SIGSEGV ? before_segv : before_bus;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
    // The access is repeated and ends the process as it would have.
    sigaction(signal, &before, nullptr);
  } else {
    before.sa_handler(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Guard* guard = innermost;
  // A signal that somebody sent is no access.
  if (guard == nullptr || info->si_code <= 0) return hand_on(signal, info, context);
  fault_address.store(reinterpret_cast<uint64_t>(info->si_addr), std::memory_order_relaxed);
  std::atomic_ref(*guard->fault).store(illegal_address_mark);
  siglongjmp(guard->back, 1);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction ours = {};
    ours.sa_sigaction = on_fault;
    // The handler is left by a jump, which would leave the signal blocked.
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, &ours, &before_segv);
    sigaction(SIGBUS, &ours, &before_bus);
  });
}

// The device's threads block all signals; a blocked SIGSEGV ends the process.
void unblock_faults() {
  thread_local bool done = false;
  if (done) return;
  done = true;
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

}  // namespace

uint64_t last_fault_address() {
  return fault_address.load(std::memory_order_relaxed);
}

void end_if_faulted() {
  Guard* guard = innermost;
  if (guard != nullptr && std::atomic_ref(*guard->fault).load() == illegal_address_mark) {
    siglongjmp(guard->back, 1);
  }
}

extern "C" void sluice_jit_run_guarded(SluiceBlockFunction body, const SluiceBlockLaunch* launch,
                                       uint32_t first_block, uint32_t block_count, void* scratch,
                                       uint8_t* fault) {
  install_handler();
  unblock_faults();
  if (std::atomic_ref(*fault).load(std::memory_order_relaxed) == illegal_address_mark) return;
  Guard guard;
  guard.fault = fault;
  guard.outer = innermost;
  // What the jump comes back to must not stand in a register: `guard` is read in memory.
  if (sigsetjmp(guard.back, 0) == 0) {
    innermost = &guard;
    body(launch, first_block, block_count, scratch);
    innermost = guard.outer;
  } else {
    innermost->restore();
    innermost = innermost->outer;
  }
}

}  // namespace sluice::hostcuda::jit
