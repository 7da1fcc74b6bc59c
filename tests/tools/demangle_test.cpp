// Kernel names as people wrote them.
#include "base/demangle.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Demangle, NamesWithoutParametersAndReturnType) {
  EXPECT_EQ(short_name("_Z6linearPKfS0_Pfi"), "linear");
  EXPECT_EQ(demangled("_Z6linearPKfS0_Pfi"), "linear(float const*, float const*, float*, int)");
  EXPECT_EQ(short_name("_Z5scaleIfEvPT_i"), "scale<float>");
  EXPECT_EQ(short_name("_ZN2ns5applyIPFvfEEEvT_"), "ns::apply<void (*)(float)>");
}

TEST(Demangle, WhatIsNotMangledStays) {
  EXPECT_EQ(short_name("stencil"), "stencil");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
}

}  // namespace
}  // namespace sluice
