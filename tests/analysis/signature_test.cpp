// Which parameters are pointers, which shape the footprint, and which do not matter.
#include <gtest/gtest.h>

#include "footprint_oracle.hpp"

namespace sluice::analysis::testing {
namespace {

std::vector<uint32_t> offsets(const std::vector<ParameterSlot>& slots) {
  std::vector<uint32_t> result;
  for (const ParameterSlot& slot : slots)
    result.push_back(slot.offset);
  return result;
}

using Offsets = std::vector<uint32_t>;

TEST(Signature, CoefficientsAreNoShapeScalars) {
  const KernelSignature& scale = analysis_of("scale").signature();
  EXPECT_EQ(scale.kernel, "scale");
  EXPECT_EQ(scale.parameter_bytes, 24u);
  EXPECT_EQ(offsets(scale.parameters), (Offsets{0, 8, 16, 20}));
  EXPECT_EQ(offsets(scale.pointers), (Offsets{0, 8}));
  EXPECT_EQ(offsets(scale.shape_scalars), (Offsets{16}));
  EXPECT_EQ(offsets(analysis_of("escape_time").signature().shape_scalars), (Offsets{8}));
}

TEST(Signature, SizesThatAreAddedToPointersAreNoPointers) {
  const KernelSignature& shift = analysis_of("shift_bytes").signature();
  EXPECT_EQ(offsets(shift.pointers), (Offsets{0, 8}));
  EXPECT_EQ(offsets(shift.shape_scalars), (Offsets{16, 24}));
}

TEST(Signature, FieldsOfStructs) {
  const KernelSignature& image = analysis_of("image_gain").signature();
  EXPECT_EQ(offsets(image.pointers), (Offsets{0, 24}));
  EXPECT_EQ(offsets(image.shape_scalars), (Offsets{8, 12, 32}));
}

TEST(Signature, BranchesCount) {
  EXPECT_EQ(offsets(analysis_of("two_parts").signature().shape_scalars), (Offsets{8, 12}));
}

TEST(Signature, MissingKernel) {
  EXPECT_THROW(analysis_of("no_such_kernel"), std::runtime_error);
}

}  // namespace
}  // namespace sluice::analysis::testing
