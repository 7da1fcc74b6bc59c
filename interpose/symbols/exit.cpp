#include "interpose/symbols/exit.hpp"

extern "C" {

extern void* __dso_handle;

// The names are the linker's (ld --wrap): what the compiler calls for variables with destructors.
int __real___cxa_atexit(void (*destroy)(void*), void* variable, void* library);
int __wrap___cxa_atexit(void (*destroy)(void*), void* variable, void* library);

int __wrap___cxa_atexit(void (* /*destroy*/)(void*), void* /*variable*/, void* /*library*/) {
  return 0;
}

}  // extern "C"

namespace sluice::interpose {

void at_exit(void (*finish)()) {
  __real___cxa_atexit([](void* called) { reinterpret_cast<void (*)()>(called)(); },
                      reinterpret_cast<void*>(finish), &__dso_handle);
}

}  // namespace sluice::interpose
