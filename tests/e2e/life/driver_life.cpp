// Modules, contexts, threads and faults of a program whose launches are held back: driver_life PTX
// CASE. It prints what it finds, which must not depend on whether Sluice is there.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <cuda.h>

namespace {

constexpr int count = 4096;
constexpr int block = 128;

const char* name_of(CUresult result) {
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  return name == nullptr ? "unknown" : name;
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::printf("%s: %s\n", what, name_of(result));
  std::exit(1);
}

std::string ptx;  // the kernels

struct Code {
  Code() { check(cuModuleLoadData(&module, ptx.c_str()), "cuModuleLoadData"); }
  CUfunction function(const char* name) const {
    CUfunction found = nullptr;
    check(cuModuleGetFunction(&found, module, name), name);
    return found;
  }
  CUmodule module = nullptr;
};

template <class... Arguments>
CUresult launch(CUfunction function, unsigned grid, unsigned threads, CUstream stream,
                Arguments... arguments) {
  void* parameters[] = {&arguments...};
  return cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
}

// Gate is a host function that keeps a stream from going on until it is opened.
class Gate {
 public:
  explicit Gate(CUstream stream) { check(cuLaunchHostFunc(stream, wait, &open_), "gate"); }
  void open() { open_ = true; }

 private:
  static void CUDA_CB wait(void* open) {
    while (!*static_cast<std::atomic<bool>*>(open))
      std::this_thread::yield();
  }
  std::atomic<bool>& open_ = *new std::atomic<bool>(false);
};

// Chain adds one to a buffer again and again, back and forth between two.
class Chain {
 public:
  Chain(CUfunction add_one, CUstream stream) : add_one_(add_one), stream_(stream) {
    for (CUdeviceptr& buffer : buffers_) {
      check(cuMemAlloc(&buffer, count * sizeof(int)), "cuMemAlloc");
      check(cuMemsetD8(buffer, 0, count * sizeof(int)), "cuMemsetD8");
    }
    check(cuCtxSynchronize(), "cuCtxSynchronize");
  }
  void step(int times = 1) {
    for (int i = 0; i < times; ++i, ++steps_) {
      check(launch(add_one_, count / block, block, stream_, buffers_[(steps_ + 1) % 2],
                   buffers_[steps_ % 2]),
            "launch");
    }
  }
  CUstream stream() const { return stream_; }
  bool is_right() const {
    std::vector<int> answer(count);
    check(cuStreamSynchronize(stream_), "cuStreamSynchronize");
    check(cuMemcpyDtoH(answer.data(), buffers_[steps_ % 2], count * sizeof(int)), "cuMemcpyDtoH");
    for (const int value : answer) {
      if (value != steps_) return false;
    }
    return true;
  }

 private:
  CUfunction add_one_;
  CUstream stream_;
  CUdeviceptr buffers_[2] = {};
  int steps_ = 0;
};

CUstream new_stream() {
  CUstream stream = nullptr;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream;
}

// Whatever handles the driver gives again, each round's launches are its own.
int unload_modules() {
  const CUstream stream = new_stream();
  int right = 0;
  for (int round = 0; round < 8; ++round) {
    const Code code;
    Chain chain(code.function("add_one"), stream);
    Gate gate(stream);
    chain.step(30);
    std::thread opener([&] { gate.open(); });
    check(cuModuleUnload(code.module), "cuModuleUnload");
    opener.join();
    right += chain.is_right() ? 1 : 0;
  }
  std::printf("right %d\n", right);
  return 0;
}

int destroy_contexts() {
  CUcontext first = nullptr;
  check(cuCtxGetCurrent(&first), "cuCtxGetCurrent");
  const Code code;
  Chain chain(code.function("add_one"), nullptr);
  int right = 0;
  for (int round = 0; round < 8; ++round) {
    CUcontext other = nullptr;
    check(cuCtxCreate_v4(&other, nullptr, 0, 0), "cuCtxCreate");
    {
      const Code own;
      Chain inner(own.function("add_one"), nullptr);
      inner.step(20);
      right += inner.is_right() ? 1 : 0;
      inner.step(30);
    }
    check(cuCtxDestroy(other), "cuCtxDestroy");
    check(cuCtxSetCurrent(first), "cuCtxSetCurrent");
    chain.step(3);
    right += chain.is_right() ? 1 : 0;
  }
  std::printf("right %d\n", right);
  return 0;
}

// Launches on the null stream of two contexts in turn.
int two_contexts() {
  CUcontext contexts[2] = {};
  check(cuCtxGetCurrent(&contexts[0]), "cuCtxGetCurrent");
  check(cuCtxCreate_v4(&contexts[1], nullptr, 0, 0), "cuCtxCreate");
  std::vector<Chain> chains;
  for (CUcontext context : contexts) {
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    chains.emplace_back(Code().function("add_one"), nullptr);
  }
  for (int i = 0; i < 100; ++i) {
    check(cuCtxSetCurrent(contexts[i % 2]), "cuCtxSetCurrent");
    chains[i % 2].step(1 + i % 3);
  }
  for (int i = 0; i < 2; ++i) {
    check(cuCtxSetCurrent(contexts[i]), "cuCtxSetCurrent");
    std::printf("%s\n", chains[i].is_right() ? "right" : "wrong");
  }
  return 0;
}

int many_threads() {
  CUcontext context = nullptr;
  check(cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  const Code code;
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
      const CUstream stream = i % 4 == 0   ? CU_STREAM_PER_THREAD
                              : i % 4 == 1 ? CU_STREAM_LEGACY
                                           : new_stream();
      Chain chain(code.function("add_one"), stream);
      for (int round = 0; round < 10; ++round) {
        chain.step(20);
        if (round % 4 == i % 4) right += chain.is_right() ? 1 : 0;
      }
      right += chain.is_right() ? 100 : 0;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  std::printf("right %d\n", right.load());
  return 0;
}

// A kernel that runs until another stream's launch sets a flag, with launches waiting behind it:
// the host makes no call, so what is held back must begin by itself.
int polled_flag() {
  const Code code;
  const CUstream waiting = new_stream();
  const CUstream setting = new_stream();
  CUdeviceptr flag = 0;
  int* told = nullptr;
  check(cuMemAlloc(&flag, 256), "cuMemAlloc");
  check(cuMemHostAlloc(reinterpret_cast<void**>(&told), sizeof(int), CU_MEMHOSTALLOC_DEVICEMAP),
        "cuMemHostAlloc");
  const std::atomic_ref<int> seen(*told);
  for (int round = 0; round < 3; ++round) {
    seen = 0;
    check(cuMemsetD8(flag, 0, 256), "cuMemsetD8");
    Chain behind(code.function("add_one"), waiting);
    Chain before(code.function("add_one"), setting);
    before.step(2);
    if (!before.is_right()) std::printf("wrong\n");
    check(launch(code.function("wait_for_flag"), 1, 1, waiting, flag, told), "wait_for_flag");
    behind.step(3);
    before.step(2);
    check(launch(code.function("set_flag"), 1, 1, setting, flag), "set_flag");
    while (seen == 0)
      std::this_thread::yield();
    std::printf("seen, %s\n", behind.is_right() && before.is_right() ? "right" : "wrong");
  }
  return 0;
}

// A thread of the third of six launches traps; what the calls after it say.
int fault(bool gated) {
  const Code code;
  const CUstream stream = new_stream();
  CUdeviceptr numbers = 0;
  check(cuMemAlloc(&numbers, count * sizeof(int)), "cuMemAlloc");
  check(cuMemsetD8(numbers, 0, count * sizeof(int)), "cuMemsetD8");
  check(cuCtxSynchronize(), "cuCtxSynchronize");
  const CUfunction trap_at = code.function("trap_at");
  if (gated) {
    Gate gate(stream);
    for (int i = 0; i < 6; ++i)
      check(launch(trap_at, count / block, block, stream, numbers, i == 2 ? 1000 : -1), "launch");
    gate.open();
  } else {
    check(launch(trap_at, count / block, block, stream, numbers, 1000), "launch");
  }
  std::printf("synchronise: %s\n", name_of(cuStreamSynchronize(stream)));
  std::printf("launch: %s\n", name_of(launch(trap_at, 1, block, stream, numbers, -1)));
  std::printf("again: %s\n", name_of(launch(trap_at, 1, block, stream, numbers, -1)));
  int word = 0;
  std::printf("copy: %s\n", name_of(cuMemcpyDtoH(&word, numbers, sizeof(word))));
  return 0;
}

// Launches before, under and after a capture, and the graph again and again.
int capture() {
  const Code code;
  const CUstream stream = new_stream();
  Chain chain(code.function("add_one"), stream);
  Chain captured(code.function("add_one"), stream);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  Gate gate(stream);
  chain.step(10);
  check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
  captured.step(4);
  check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  check(cuGraphInstantiate(&executable, graph, 0), "cuGraphInstantiate");
  chain.step(5);
  check(cuGraphLaunch(executable, stream), "cuGraphLaunch");
  chain.step(5);
  gate.open();
  std::printf("%s %s\n", chain.is_right() ? "right" : "wrong",
              captured.is_right() ? "right" : "wrong");
  return 0;
}

// Launches of one thread while another captures: they stay in their order.
int capture_beside() {
  const Code code;
  Chain chain(code.function("add_one"), new_stream());
  CUcontext context = nullptr;
  check(cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  std::atomic<int> captures{0};
  std::atomic<bool> ends{false};
  std::thread other([&] {
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    const CUstream stream = new_stream();
    while (!ends) {
      CUgraph graph = nullptr;
      check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
      check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
      check(cuGraphDestroy(graph), "cuGraphDestroy");
      ++captures;
    }
  });
  int right = 0;
  for (int round = 0; round < 20; ++round) {
    Gate gate(chain.stream());
    for (int part = 0; part < 5; ++part) {
      for (const int before = captures; captures == before;)
        std::this_thread::yield();
      chain.step(20);
    }
    gate.open();
    right += chain.is_right() ? 1 : 0;
  }
  ends = true;
  other.join();
  std::printf("right %d\n", right);
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return 2;
  std::ifstream file(arguments[1], std::ios::binary);
  ptx.assign(std::istreambuf_iterator<char>(file), {});
  const std::string name = arguments[2];
  CUcontext context = nullptr;
  check(cuInit(0), "cuInit");
  check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  if (name == "unload_modules") return unload_modules();
  if (name == "destroy_contexts") return destroy_contexts();
  if (name == "two_contexts") return two_contexts();
  if (name == "many_threads") return many_threads();
  if (name == "polled_flag") return polled_flag();
  if (name == "fault") return fault(false);
  if (name == "fault_held_back") return fault(true);
  if (name == "capture") return capture();
  if (name == "capture_beside") return capture_beside();
  std::printf("driver_life: no case '%s'\n", name.c_str());
  return 2;
}
