// What a program reads of a kernel, each with what its PTX says.
#include <string>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

constexpr const char* head = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 near[40];
.const .align 4 .b8 far[1000];
.func helper(.param .b64 to) {
  .local .align 8 .b8 its_own[24];
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  mov.u64 %rd2, its_own;
  st.local.u64 [%rd2], %rd1;
  ret;
}
.visible .entry stores(.param .u64 out) {
  .local .align 16 .b8 depot[100];
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.const.u32 %r1, [near + 4];
  st.local.u32 [depot], %r1;
  {
    .param .b64 to;
    st.param.b64 [to], %rd1;
    call helper, (to);
  }
  ret;
}
)";

// The kernels `plain`, `bounded` and `few` keep `wide` values from the first load to the last
// store.
std::string module_text(int wide) {
  std::string loads;
  std::string stores;
  for (int i = 0; i < wide; ++i) {
    const std::string value = "%rd" + std::to_string(i + 1);
    loads += "  ld.global.u64 " + value + ", [%rd0 + " + std::to_string(8 * i) + "];\n";
    stores += "  st.global.u64 [%rd0 + " + std::to_string(8 * (wide - i)) + "], " + value + ";\n";
  }
  const std::string body = " {\n  .reg .pred %p<2>;\n  .reg .b64 %rd<" + std::to_string(wide + 1) +
                           ">;\n  ld.param.u64 %rd0, [out];\n" + loads + stores + "  ret;\n}\n";
  const std::string entry = "(.param .u64 out)";
  return head + (".visible .entry plain" + entry) + body + ".visible .entry bounded" + entry +
         " .maxntid 128" + body + ".visible .entry few" + entry + " .maxntid 128 .maxnreg 40" +
         body;
}

class AttributeTest : public DriverTest {
 protected:
  void load(int wide) {
    ASSERT_EQ(cuModuleLoadData(&module_, module_text(wide).c_str()), CUDA_SUCCESS);
  }
  int attribute(const char* kernel, CUfunction_attribute which) {
    CUfunction function = nullptr;
    int value = -1;
    EXPECT_EQ(cuModuleGetFunction(&function, module_, kernel), CUDA_SUCCESS) << kernel;
    EXPECT_EQ(cuFuncGetAttribute(&value, which, function), CUDA_SUCCESS) << kernel;
    return value;
  }
  int registers(const char* kernel) { return attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS); }

  CUmodule module_ = nullptr;
};

TEST_F(AttributeTest, CountLocalMemoryOfAllThatIsCalled) {
  load(1);
  // 100 bytes, and 24 more of what is called, at a multiple of 8.
  EXPECT_EQ(attribute("stores", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 128);
  EXPECT_EQ(attribute("plain", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
}

TEST_F(AttributeTest, CountConstantsThatAreNamed) {
  load(1);
  EXPECT_EQ(attribute("stores", CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 40);
  EXPECT_EQ(attribute("plain", CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 0);
}

TEST_F(AttributeTest, EstimateRegistersFromWhatIsLiveAtOnce) {
  load(20);
  // The address and 20 values of two words each.
  EXPECT_EQ(registers("plain"), 42);
  EXPECT_EQ(registers("bounded"), 42);
  EXPECT_EQ(registers("few"), 40);
}

TEST_F(AttributeTest, LeaveRegistersForTheLargestBlock) {
  load(300);
  EXPECT_EQ(registers("plain"), 64);
  EXPECT_EQ(registers("bounded"), 255);
  EXPECT_EQ(registers("few"), 40);
}

TEST_F(AttributeTest, HaveSomeRegistersInAnyKernel) {
  load(1);
  EXPECT_EQ(registers("plain"), 16);
}

}  // namespace
}  // namespace sluice::hostcuda
