// Has an allocator of its own, which ends with main(), as NVIDIA's compilers have. Exits with
// status 3 where the driver still gives it something back then.
#include <cstddef>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

extern "C" {

void __libc_free(void*);

static bool has_ended = false;

void free(void* memory) {
  Dl_info caller = {};
  if (has_ended && dladdr(__builtin_return_address(0), &caller) != 0 &&
      std::strstr(caller.dli_fname, "libcuda.so") != nullptr) {
    _exit(3);
  }
  __libc_free(memory);
}

}  // extern "C"

int main() {
  has_ended = true;
  return 0;
}
