// A driver of the test's own below the runtime library: it records the calls it gets and answers as
// told. Only the functions that the tests reach are here.
#pragma once

#include <string>
#include <vector>

#include <cuda.h>

namespace sluice::test {

struct FakeLaunch {
  CUfunction function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  CUstream stream;
  void** arguments;
};

struct FakeDriver {
  std::vector<std::string> calls;  // names of the calls that do something, in order
  std::vector<FakeLaunch> launches;
  std::vector<const void*> images;  // handed to cuLibraryLoadData
  CUresult library_result = CUDA_SUCCESS;
  CUresult launch_result = CUDA_SUCCESS;
  CUresult synchronize_result = CUDA_SUCCESS;
  size_t variable_size = 16;

  int count(const std::string& call) const;
};

// fake_driver() is the driver of all threads.
FakeDriver& fake_driver();

}  // namespace sluice::test
