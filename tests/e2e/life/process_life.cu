// What a program does with itself while launches are held back: process_life CASE. It prints what
// it finds, which must not depend on whether Sluice is there.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr int count = 4096, threads = 128, launches = 40;

__global__ void add_one(int* out, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  std::exit(1);
}

// Work is a chain of launches behind a host function, so that Sluice holds most of them back until
// finish() or the destructor lets the function return.
class Work {
 public:
  explicit Work(bool gated = true) {
    for (int*& buffer : buffers_) {
      check(cudaMalloc(&buffer, count * sizeof(int)), "cudaMalloc");
      check(cudaMemset(buffer, 0, count * sizeof(int)), "cudaMemset");
    }
    if (gated) check(cudaLaunchHostFunc(nullptr, wait_at_gate, &gate_), "cudaLaunchHostFunc");
    launch();
  }
  void launch() {
    for (int i = 0; i < launches; ++i)
      add_one<<<count / threads, threads>>>(buffers_[(i + 1) % 2], buffers_[i % 2]);
  }

  void let_go() { gate_ = true; }
  bool is_right() {
    let_go();
    std::vector<int> answer(count);
    check(cudaMemcpy(answer.data(), buffers_[launches % 2], count * sizeof(int),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    for (const int value : answer) {
      if (value != launches) return false;
    }
    return true;
  }
  void tell(const char* who) {
    std::printf("%s: %s\n", who, is_right() ? "right" : "wrong");
    std::fflush(stdout);
  }

 private:
  static void CUDART_CB wait_at_gate(void* gate) {
    while (!*static_cast<std::atomic<bool>*>(gate))
      std::this_thread::yield();
  }
  // Never destroyed: a device thread may still look at it when the process ends.
  std::atomic<bool>& gate_ = *new std::atomic<bool>(false);
  int* buffers_[2] = {};
};

static void wait_for(pid_t child, const char* who) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) std::printf("%s: status %d\n", who, WEXITSTATUS(status));
  if (WIFSIGNALED(status)) std::printf("%s: signal %d\n", who, WTERMSIG(status));
  std::fflush(stdout);
}

static pid_t start_child() {
  std::fflush(stdout);
  return fork();
}

static int fork_before() {
  const pid_t child = start_child();
  if (child == 0) {
    Work().tell("child");
    return 0;
  }
  Work work;
  wait_for(child, "child");
  work.tell("parent");
  return 0;
}

// A child that uses nothing of CUDA may leave in any way.
static int fork_after() {
  Work work;
  for (const char* way : {"exit", "_exit", "exec", "signal"}) {
    const pid_t child = start_child();
    if (child == 0) {
      if (std::strcmp(way, "exit") == 0) std::exit(7);
      if (std::strcmp(way, "_exit") == 0) _exit(8);
      if (std::strcmp(way, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 9", nullptr);
      std::raise(SIGTERM);
    }
    wait_for(child, way);
  }
  work.tell("parent");
  return 0;
}

// A child that calls CUDA is told that it cannot, as CUDA tells it, and does not hang.
static int fork_and_call() {
  Work work;
  const pid_t child = start_child();
  if (child == 0) {
    int* memory = nullptr;
    std::printf("child: %s\n", cudaGetErrorName(cudaMalloc(&memory, 64)));
    add_one<<<1, 32>>>(memory, memory);
    std::printf("child: %s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("child: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::exit(0);
  }
  wait_for(child, "child");
  work.tell("parent");
  return 0;
}

// The program again, as a new image: in a child, or in its own place.
static int become(const char* self, const char* what) {
  execl(self, self, what, nullptr);
  return 1;
}

static int exec_in_child(const char* self) {
  Work work;
  const pid_t child = start_child();
  if (child == 0) return become(self, "work");
  wait_for(child, "child");
  work.tell("parent");
  return 0;
}

static int work() {
  Work().tell("work");
  return 0;
}

static int leave(bool gated, bool at_once) {
  new Work(gated);
  std::printf("leaving\n");
  std::fflush(stdout);
  if (at_once) _exit(5);
  std::exit(6);
}

static std::atomic<int> signals_here{0}, signals_elsewhere{0};
static pthread_t main_thread;

static void note_signal(int) {
  ++(pthread_equal(pthread_self(), main_thread) ? signals_here : signals_elsewhere);
}

// A function of the program that stands behind launches which nobody waits for does not run: the
// first of them does not end before the host says so.
__global__ void wait_for_host(const volatile int* said) {
  while (*said == 0) {
  }
}

static volatile int* said = nullptr;

static int leave_function_behind() {
  auto* const work = new Work(false);
  work->launch();  // so that no code is made while the long launch runs
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaHostAlloc(const_cast<int**>(&said), sizeof(int), cudaHostAllocMapped), "cudaHostAlloc");
  *said = 0;
  const auto tell = [](void*) {
    constexpr char text[] = "the function ran\n";
    if (write(1, text, sizeof text - 1) < 0) std::abort();
  };
  wait_for_host<<<1, 1>>>(said);
  for (int round = 0; round < 4; ++round) {
    work->launch();
    check(cudaLaunchHostFunc(nullptr, tell, nullptr), "cudaLaunchHostFunc");
  }
  return 6;
}

// A function that a handler of atexit() waits for does run.
static void wait_for_device() {
  *said = 1;
  cudaDeviceSynchronize();
}
static int wait_for_function_at_exit() {
  std::atexit(wait_for_device);
  return leave_function_behind();
}

// Handlers run on the program's own thread, whichever threads Sluice and the device have.
static int handle_signals() {
  main_thread = pthread_self();
  struct sigaction action = {};
  action.sa_handler = note_signal;
  sigaction(SIGUSR1, &action, nullptr);
  for (int round = 0; round < 10; ++round) {
    Work work;
    for (int i = 0; i < 10; ++i)
      kill(getpid(), SIGUSR1);
    if (!work.is_right()) std::printf("wrong\n");
  }
  std::printf("here %d elsewhere %d\n", signals_here.load(), signals_elsewhere.load());
  return 0;
}

static int keep_errno() {
  int* buffers[2] = {};
  for (int*& buffer : buffers)
    check(cudaMalloc(&buffer, count * sizeof(int)), "cudaMalloc");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  errno = 77;
  for (int i = 0; i < 300; ++i)
    add_one<<<count / threads, threads, 0, stream>>>(buffers[(i + 1) % 2], buffers[i % 2]);
  cudaStreamQuery(stream);
  cudaStreamSynchronize(stream);
  cudaMemsetAsync(buffers[0], 0, 64, stream);
  cudaDeviceSynchronize();
  std::printf("errno %d\n", errno);
  return 0;
}

// Whatever was held back is done when the device has been reset, and the device works on.
static int reset() {
  for (int round = 0; round < 3; ++round) {
    Work work;
    work.let_go();
    check(cudaDeviceReset(), "cudaDeviceReset");
    Work().tell("after reset");
  }
  return 0;
}

static int interrupt() {
  Work work;
  std::raise(SIGINT);
  std::printf("still here\n");
  return 0;
}

int main(int argument_count, char** arguments) {
  const std::string name = argument_count > 1 ? arguments[1] : "";
  if (name == "fork_before") return fork_before();
  if (name == "fork_after") return fork_after();
  if (name == "fork_and_call") return fork_and_call();
  if (name == "exec_in_child") return exec_in_child(arguments[0]);
  if (name == "exec") {
    new Work();
    return become(arguments[0], "work");
  }
  if (name == "work") return work();
  if (name == "exit") return leave(false, false);
  if (name == "exit_blocked") return leave(true, false);
  if (name == "_exit") return leave(false, true);
  if (name == "_exit_blocked") return leave(true, true);
  if (name == "exit_function") return leave_function_behind();
  if (name == "exit_waits") return wait_for_function_at_exit();
  if (name == "handle_signals") return handle_signals();
  if (name == "keep_errno") return keep_errno();
  if (name == "reset") return reset();
  if (name == "interrupt") return interrupt();
  std::printf("process_life: no case '%s'\n", name.c_str());
  return 2;
}
