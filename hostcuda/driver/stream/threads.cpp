#include "hostcuda/driver/stream/threads.hpp"

#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

#include "base/thread/signals_blocked.hpp"

namespace sluice::hostcuda {
namespace {

std::atomic<bool> faults_pass{false};
thread_local bool is_daemon = false;

}  // namespace

void let_faults_through() {
  faults_pass.store(true);
}

bool is_daemon_thread() {
  return is_daemon;
}

FaultsOfTheProgram::FaultsOfTheProgram() {
  if (!is_daemon) return;
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &faults, &before_);
}

FaultsOfTheProgram::~FaultsOfTheProgram() {
  if (is_daemon) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void start_daemon_thread(const char* name, std::function<void()> body) {
  const SignalsBlocked blocked = faults_pass.load() ? SignalsBlocked({SIGSEGV}) : SignalsBlocked();
  std::thread thread([body = std::move(body)] {
    is_daemon = true;
    body();
  });
  pthread_setname_np(thread.native_handle(), name);
  thread.detach();
}

}  // namespace sluice::hostcuda
