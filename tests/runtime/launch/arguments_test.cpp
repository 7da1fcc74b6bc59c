#include "runtime/launch/arguments.hpp"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

using ::testing::HasSubstr;

class ArgumentsTest : public ::testing::Test {
 protected:
  const char* read(const LaunchCall& call) { return read_parameter_block(call, signature, block); }

  void expect_values() {
    EXPECT_EQ(block.size(), 20U);
    EXPECT_EQ(read_slot(block, signature.parameters[0]), 0x0123456789abcdefU);
    EXPECT_EQ(read_slot(block, signature.parameters[1]), 0xfffeU);
    EXPECT_EQ(read_slot(block, signature.parameters[2]), 0xffffffffU);
  }

  analysis::KernelSignature signature{
      "k", {{"a", 0, 8}, {"b", 8, 2}, {"c", 16, 4}}, 20, {{"a", 0, 8}}, {}};
  std::vector<std::byte> block;
  uint64_t a = 0x0123456789abcdefU;
  uint16_t b = 0xfffe;
  int32_t c = -1;
};

TEST_F(ArgumentsTest, ReadsAnArrayOfPointers) {
  void* parameters[] = {&a, &b, &c};
  EXPECT_EQ(read({.parameters = parameters}), nullptr);
  expect_values();
}

TEST_F(ArgumentsTest, ReadsAParameterBuffer) {
  unsigned char buffer[24] = {};
  std::memcpy(buffer, &a, 8);
  std::memcpy(buffer + 8, &b, 2);
  std::memcpy(buffer + 16, &c, 4);
  size_t size = sizeof buffer;
  void* extra[] = {reinterpret_cast<void*>(2), &size, reinterpret_cast<void*>(1), buffer, nullptr};
  EXPECT_EQ(read({.extra = extra}), nullptr);
  expect_values();

  size = 19;
  EXPECT_THAT(read({.extra = extra}), HasSubstr("smaller than the kernel's parameters"));
  void* unknown[] = {reinterpret_cast<void*>(7), nullptr, nullptr};
  EXPECT_THAT(read({.extra = unknown}), HasSubstr("unknown entry"));
}

TEST_F(ArgumentsTest, SaysWhatIsMissing) {
  void* parameters[] = {&a, nullptr, &c};
  void* extra[] = {nullptr};
  EXPECT_THAT(read({}), HasSubstr("without arguments"));
  EXPECT_THAT(read({.parameters = parameters}), HasSubstr("null argument"));
  EXPECT_THAT(read({.parameters = parameters, .extra = extra}), HasSubstr("both"));
}

TEST_F(ArgumentsTest, AKernelWithoutParametersNeedsNone) {
  signature = {.kernel = "k"};
  EXPECT_EQ(read({}), nullptr);
  EXPECT_TRUE(block.empty());
}

TEST_F(ArgumentsTest, ShapesBeyondTheLimitsAreTheDriversToRefuse) {
  EXPECT_EQ(shape_refusal({.grid = {1U << 30, 1, 1}, .block = {1024, 1, 1}}), nullptr);
  EXPECT_EQ(shape_refusal({.grid = {1, 16384, 65535}, .block = {16, 1, 64}}), nullptr);
  EXPECT_NE(shape_refusal({.grid = {0, 1, 1}}), nullptr);
  EXPECT_NE(shape_refusal({.block = {1, 0, 1}}), nullptr);
  EXPECT_NE(shape_refusal({.grid = {1, 65536, 1}}), nullptr);
  EXPECT_NE(shape_refusal({.block = {32, 33, 1}}), nullptr);
  EXPECT_NE(shape_refusal({.block = {1, 1, 65}}), nullptr);
  EXPECT_NE(shape_refusal({.grid = {65536, 16385, 1}}), nullptr);
}

}  // namespace
}  // namespace sluice::runtime
