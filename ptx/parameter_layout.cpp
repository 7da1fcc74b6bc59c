#include "ptx/parameter_layout.hpp"

#include <algorithm>
#include <limits>

#include "base/number/divide_up.hpp"

namespace sluice::ptx {
std::vector<ParameterPlace> parameter_layout(const Function& function, uint32_t* total_bytes) {
  std::vector<ParameterPlace> places;
  uint64_t end = 0;
  constexpr uint64_t limit = std::numeric_limits<uint32_t>::max();
  for (const Variable& parameter : function.parameters) {
    // A reference is a handle of 64 bits.
    const bool is_handle = is_reference(parameter.type);
    uint64_t alignment = is_handle && parameter.alignment == 0 ? 8 : parameter.aligned_to();
    uint64_t size = is_handle ? 8 : std::min(parameter.bytes(), limit);
    uint64_t offset = std::min(round_up(end, alignment), limit);
    end = std::min(offset + size, limit);
    places.push_back({parameter.name, static_cast<uint32_t>(offset), static_cast<uint32_t>(size),
                      static_cast<uint32_t>(alignment)});
  }
  if (total_bytes) *total_bytes = static_cast<uint32_t>(end);
  return places;
}

}  // namespace sluice::ptx
