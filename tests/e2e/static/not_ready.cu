// Asks a stream that is not ready. The library of the argument, whose static runtime is a copy of
// its own, sees no error of that; the program does, and may clear it.
#include <atomic>
#include <cstdio>

#include <dlfcn.h>

static void CUDART_CB wait_for(void* flag) {
  while (!static_cast<std::atomic<bool>*>(flag)->load())
    ;
}

int main(int, char** arguments) {
  void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  auto* const last_error = reinterpret_cast<int (*)()>(dlsym(library, "last_error"));
  std::atomic<bool> may_end{false};
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaLaunchHostFunc(stream, wait_for, &may_end);
  const int answer = cudaStreamQuery(stream);
  const int others = last_error();
  const int peeked = cudaPeekAtLastError(), taken = cudaGetLastError(), left = cudaGetLastError();
  may_end = true;
  cudaStreamSynchronize(stream);
  std::printf("answer %d, library %d, program %d %d %d\n", answer, others, peeked, taken, left);
  return 0;
}
