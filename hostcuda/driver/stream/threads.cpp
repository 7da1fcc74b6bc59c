#include "hostcuda/driver/stream/threads.hpp"

#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

namespace sluice::hostcuda {

void start_daemon_thread(const char* name, std::function<void()> body) {
  // A new thread inherits the signal mask: the program's handlers stay on the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name);
    thread.detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace sluice::hostcuda
