// Structures passed by value, which all threads read alike wherever the kernel reads them.
#include <string>

#include <gtest/gtest.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/converged/meetings.hpp"

namespace sluice::hostcuda {
namespace {

// How many loads there are in front of the first branch of a kernel whose thread 0 alone runs
// `body`.
long first_loads(const std::string& body) {
  const std::string text =
      ".version 7.5\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .align 8 .b8 shape[24], .param .u64 out) {\n"
      ".reg .pred %p; .reg .b32 %t; .reg .b64 %a<9>;\n"
      "ld.param.u64 %a1, [out];\nmov.u32 %t, %tid.x;\nsetp.ne.u32 %p, %t, 0;\n@%p bra END;\n" +
      body + "st.global.u64 [%a1], %a3;\nEND:\nret;\n}\n";
  long loads = -1;
  use_thread_function(text, "k", {64, 1, 1}, [&](llvm::Function& function) {
    loads = llvm::count_if(function.getEntryBlock(), llvm::IsaPred<llvm::LoadInst>);
  });
  return loads;
}

TEST(ParametersByValue, AreReadBeforeAnythingElse) {
  EXPECT_EQ(first_loads("ld.param.u64 %a3, [shape+16];\n"), 1);
  EXPECT_EQ(first_loads("ld.param.u64 %a3, [shape];\nld.param.u64 %a4, [shape+8];\n"
                        "add.u64 %a3, %a3, %a4;\n"),
            2);
  EXPECT_EQ(first_loads("ld.global.u64 %a3, [%a1+8];\n"), 0);
}

}  // namespace
}  // namespace sluice::hostcuda
