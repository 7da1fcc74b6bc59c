#include "ptx/parameter_layout.hpp"

#include <algorithm>
#include <limits>

#include "base/divide_up.hpp"

namespace sluice::ptx {
namespace {

bool is_handle(ScalarType type) {
  return type == ScalarType::texref || type == ScalarType::samplerref ||
         type == ScalarType::surfref;
}

uint32_t alignment_of(const Variable& parameter) {
  if (parameter.alignment != 0) return parameter.alignment;
  if (is_handle(parameter.type)) return 8;
  return std::max<uint32_t>(1, size_in_bytes(parameter.type) * parameter.vector_elements);
}

}  // namespace

std::vector<ParameterPlace> parameter_layout(const Function& function, uint32_t* total_bytes) {
  std::vector<ParameterPlace> places;
  uint64_t end = 0;
  constexpr uint64_t limit = std::numeric_limits<uint32_t>::max();
  for (const Variable& parameter : function.parameters) {
    uint64_t alignment = alignment_of(parameter);
    uint64_t size = is_handle(parameter.type) ? 8 : std::min(parameter.bytes(), limit);
    uint64_t offset = std::min(round_up(end, alignment), limit);
    end = std::min(offset + size, limit);
    places.push_back({parameter.name, static_cast<uint32_t>(offset), static_cast<uint32_t>(size),
                      static_cast<uint32_t>(alignment)});
  }
  if (total_bytes) *total_bytes = static_cast<uint32_t>(end);
  return places;
}

}  // namespace sluice::ptx
