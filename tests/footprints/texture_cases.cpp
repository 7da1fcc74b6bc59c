#include "kernel_case.hpp"

namespace sluice::footprints {

std::vector<KernelCase> texture_cases() {
  return {
      {"texture_fetch",
       {4},
       {8},
       {scalar(uint64_t{0}), buffer(512), scalar(0)},
       {"refused: outside the instruction table"}},
      {"surface_write",
       {4},
       {8},
       {scalar(uint64_t{0}), buffer(512), scalar(0)},
       {"refused: outside the instruction table"}},
  };
}

}  // namespace sluice::footprints
