// What a journal says of the launches that are to be explained.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/result.hpp"

namespace sluice::tools {

// RecordedKernel is one kernel as a program launched it: its first followed launch, or the wanted
// one.
struct RecordedKernel {
  std::string kernel;
  uint64_t launch = 0;
  std::optional<analysis::Footprint> footprint;  // none where no launch of it was followed
  std::string reason;                            // why not
  std::optional<analysis::Widening> widening;    // where the analysis is why
  size_t shapes = 0;                             // different footprints of this kernel
};

// is_journal() looks at the file's first bytes.
bool is_journal(const std::string& file);

// recorded_launches() lists the kernels of a journal in the order of their first launch; with
// `launch`, the kernel of that launch alone. Errors name the record, or say that there is no such
// launch.
Result<std::vector<RecordedKernel>> recorded_launches(const std::string& file,
                                                      std::optional<uint64_t> launch);

}  // namespace sluice::tools
