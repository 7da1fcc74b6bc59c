// A program of which a library has all that CUDA is asked for: `library_lines LIBRARY CASE wrong`.
#include <cstdio>

#include <dlfcn.h>

int main(int argc, char** argv) {
  void* const library = argc < 2 ? nullptr : dlopen(argv[1], RTLD_NOW);
  // int run_errors(int, char**)
  void* const found = library == nullptr ? nullptr : dlsym(library, "_Z10run_errorsiPPc");
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  return reinterpret_cast<int (*)(int, char**)>(found)(argc - 1, argv + 1);
}
