// A task body of a few PTX statements.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "megakernel/cuda/body.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel::testing {

// rewrite_statements() makes the body of a kernel that has its parameter in %r1, %tid.x in %r2, and
// registers %p0 to %p8 and %r0 to %r19.
inline Result<TaskBody> rewrite_statements(const std::string& statements, const Dim3& block,
                                           std::string_view prefix = "b_") {
  const auto module = ptx::parse(
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u32 n)\n{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<20>;\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n" +
      statements + "\nret;\n}\n");
  EXPECT_TRUE(module) << module.error().line();
  return rewrite_body(*module, "k", block, prefix);
}

inline constexpr Dim3 whole_warps{64, 1, 1};

}  // namespace sluice::megakernel::testing
