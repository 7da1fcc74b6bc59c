#include "random_programs/driver_api.hpp"

#include <dlfcn.h>

namespace sluice::random_programs {

DriverApi DriverApi::open(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw CallFailed(dlerror());
  DriverApi api;
#define SLUICE_DRIVER_CALL(symbol)                                             \
  api.symbol = reinterpret_cast<decltype(api.symbol)>(dlsym(handle, #symbol)); \
  if (api.symbol == nullptr) throw CallFailed(library + " lacks " #symbol);
#include "random_programs/driver_api.def"
#undef SLUICE_DRIVER_CALL
  return api;
}

void DriverApi::check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  throw CallFailed(std::string(call) + ": " + (name == nullptr ? "unknown error" : name));
}

}  // namespace sluice::random_programs
