#include "megakernel/host/processor_share.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/keep_errno.hpp"

namespace sluice::megakernel {

ProcessorShare share_of_threads(const std::string& tasks) {
  const KeepErrno keep;
  ProcessorShare all;
  std::error_code error;
  for (std::filesystem::directory_iterator thread(tasks, error), end; !error && thread != end;
       thread.increment(error)) {
    std::ifstream file(thread->path() / "schedstat");
    ProcessorShare one;
    if (!(file >> one.ran >> one.waited)) continue;
    all.ran += one.ran;
    all.waited += std::min(one.waited, one.ran);
  }
  return all;
}

}  // namespace sluice::megakernel
