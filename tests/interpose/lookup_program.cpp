// Looks a driver function up in the way its argument names and prints the file it was found in.
// "errno" and "maps" call cuInit and print what that has done.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include <cuda.h>
#include <dlfcn.h>

namespace {

std::string file_of(void* address) {
  Dl_info info = {};
  if (address == nullptr || dladdr(address, &info) == 0) return "nowhere";
  const char* slash = std::strrchr(info.dli_fname, '/');
  return slash == nullptr ? info.dli_fname : slash + 1;
}

void* find(const std::string& way, const char* path) {
  if (way == "global") return dlsym(RTLD_DEFAULT, "cuLaunchKernel");
  const int flags = way == "deepbind" ? RTLD_NOW | RTLD_DEEPBIND : RTLD_NOW;
  void* library = dlopen(path, flags);
  if (library == nullptr) return nullptr;
  if (way != "by-name") return dlsym(library, "cuLaunchKernel");
  const auto look_up =
      reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(library, "cuGetProcAddress_v2"));
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  look_up("cuMemAlloc", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  return function;
}

// A call through the shim must leave errno as it was.
int errno_after_a_call(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  const auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(library, "cuInit"));
  errno = 77;
  init(0);
  return errno;
}

// tell_maps() prints what this process has mapped once it has begun with the driver.
void tell_maps(const char* path) {
  errno_after_a_call(path);
  std::ifstream maps("/proc/self/maps");
  std::cout << maps.rdbuf();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (std::strcmp(argv[1], "maps") == 0) {
    tell_maps(argv[2]);
  } else if (std::strcmp(argv[1], "errno") == 0) {
    std::printf("%d\n", errno_after_a_call(argv[2]));
  } else {
    std::printf("%s\n", file_of(find(argv[1], argv[2])).c_str());
  }
}
