// Long kernel names in few columns.
#include "base/terminal/fitted_name.hpp"

#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice {
namespace {

const std::string reduce =
    "cub::detail::reduce::DeviceReduceKernel<cub::policy_hub<float, unsigned int, cuda::plus<void> "
    ">::Policy1000, float const*, float*>";

TEST(FittedName, OneThatFitsStaysAndIsDemangled) {
  EXPECT_EQ(fitted_name("_Z5scaleIfEvPT_i", 80), "scale<float>");
  EXPECT_EQ(fitted_name("stencil", 16), "stencil");
  EXPECT_EQ(fitted_name(reduce, reduce.size()), reduce);
  EXPECT_EQ(fitted_name(reduce, any_width), reduce);
}

TEST(FittedName, TheInnermostTemplatesLoseTheirArgumentsFirst) {
  EXPECT_EQ(fitted_name(reduce, reduce.size() - 1),
            "cub::detail::reduce::DeviceReduceKernel<cub::policy_hub<float, unsigned int, "
            "cuda::plus<...> >::Policy1000, float const*, float*>");
  EXPECT_EQ(
      fitted_name(reduce, 100),
      "cub::detail::reduce::DeviceReduceKernel<cub::policy_hub<...>::Policy1000, float const*, "
      "float*>");
  EXPECT_EQ(fitted_name(reduce, 60), "cub::detail::reduce::DeviceReduceKernel<...>");
}

TEST(FittedName, ThenItsNamespacesGoAndThenItsMiddle) {
  EXPECT_EQ(fitted_name(reduce, 30), "DeviceReduceKernel<...>");
  EXPECT_EQ(fitted_name(reduce, 20), "DeviceRed...nel<...>");
  EXPECT_EQ(fitted_name("a_name_of_a_kernel_without_templates", 20), "a_name_of...emplates");
  EXPECT_EQ(fitted_name("(anonymous namespace)::elementwise<int>", 20), "elementwise<...>");
}

TEST(FittedName, AnAngleBracketOfAnOperatorIsNoTemplate) {
  const std::string name = "compare::operator<(first_of_many, second_of_many, third)::kernel";
  EXPECT_EQ(fitted_name(name, 20).size(), 20U);
}

TEST(FittedName, WhatIsNoTerminalHasTheUsualWidth) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(width_of(ends[0]), usual_width);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace sluice
