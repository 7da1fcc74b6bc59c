// For machines without OpenCL's headers.
#include "contestant.hpp"

namespace sluice::bench {

std::unique_ptr<Contestant> make_opencl(const Inputs&) {
  return nullptr;
}

}  // namespace sluice::bench
