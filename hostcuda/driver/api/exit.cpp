// None of this library's variables is destroyed when the process ends, nor LLVM's in it: its
// threads may be at work then, and the allocator may be the program's own and gone.

// The name is the linker's (ld --wrap): what the compiler calls for variables with destructors.
extern "C" int __wrap___cxa_atexit(void (*destroy)(void*), void* variable, void* library);

int __wrap___cxa_atexit(void (* /*destroy*/)(void*), void* /*variable*/, void* /*library*/) {
  return 0;
}
