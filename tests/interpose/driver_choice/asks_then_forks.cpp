// Asks for the driver's version, then does as its argument says: "nothing"; "init": initialises and
// prints the result and, with a device, its name; "fork": does so in a child. A second argument is
// a library to open before all that.
#include <cstdio>
#include <string>

#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void initialise_and_tell() {
  const CUresult result = cuInit(0);
  std::printf("cuInit %d\n", static_cast<int>(result));
  int devices = 0;
  char name[100] = "";
  if (cuDeviceGetCount(&devices) == CUDA_SUCCESS && devices > 0) {
    cuDeviceGetName(name, sizeof name, 0);
    std::printf("%s\n", name);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (argc > 2 && dlopen(argv[2], RTLD_NOW) == nullptr) return 2;
  int version = 0;
  if (cuDriverGetVersion(&version) != CUDA_SUCCESS) return 3;
  std::printf("version %d\n", version);
  std::fflush(stdout);
  if (what == "init") initialise_and_tell();
  if (what == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      initialise_and_tell();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  return 0;
}
