// A driver in the place of NVIDIA's. Each cuInit is a line in the file that STAND_IN_LOG names: the
// process's id. STAND_IN_DEVICES is how many devices there are (1); with "none" cuInit says so. As
// with NVIDIA's, a process whose parent has initialised the driver can't use it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <cuda.h>
#include <unistd.h>

namespace {

pid_t initialised_in = 0;

std::string devices() {
  const char* text = std::getenv("STAND_IN_DEVICES");
  return text == nullptr ? "1" : text;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  if (std::FILE* log = std::fopen(std::getenv("STAND_IN_LOG"), "a")) {
    std::fprintf(log, "%d\n", static_cast<int>(getpid()));
    std::fclose(log);
  }
  if (initialised_in != 0 && initialised_in != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  if (devices() == "none") return CUDA_ERROR_NO_DEVICE;
  initialised_in = getpid();
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = 12345;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (initialised_in != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  *count = std::atoi(devices().c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::snprintf(name, static_cast<size_t>(bytes), "stand-in");
  return CUDA_SUCCESS;
}

CUresult cuGetExportTable(const void**, const CUuuid*) {
  return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
