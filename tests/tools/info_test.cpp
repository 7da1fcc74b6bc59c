// What sluice info concludes from what a program is.
#include <algorithm>

#include <gmock/gmock.h>

#include "interpose/driver/gpu_libraries.hpp"
#include "tools/info/here.hpp"
#include "tools/info/verdict.hpp"

namespace sluice::tools {
namespace {

using ::testing::HasSubstr;

Program with_code(std::vector<CodePart> code) {
  Program program;
  program.kind = Program::Kind::program;
  program.may_be_run = true;
  program.runtime = Program::Runtime::shared;
  program.cudart = "libcudart.so.13";
  program.images = 1;
  program.code = std::move(code);
  const bool has_ptx = std::ranges::any_of(program.code, &CodePart::is_ptx);
  program.images_without_ptx = has_ptx ? 0 : 1;
  return program;
}

TEST(Verdict, MachineCodeFitsItsGenerationAndPtxAllLaterOnes) {
  const Program machine = with_code({{false, 80, 1}});
  EXPECT_TRUE(on_gpu(machine, 86).runs);
  EXPECT_FALSE(on_gpu(machine, 90).runs);
  EXPECT_FALSE(on_gpu(machine, 75).runs);
  EXPECT_TRUE(on_gpu(machine, {}).runs);
  const Program ptx = with_code({{true, 80, 1}});
  EXPECT_TRUE(on_gpu(ptx, 90).runs);
  EXPECT_FALSE(on_gpu(ptx, 75).runs);
}

TEST(Verdict, TheCpuDeviceNeedsPtxAndItsOwnRuntime) {
  EXPECT_FALSE(on_cpu_device(with_code({{false, 80, 1}})).runs);
  Program program = with_code({{true, 75, 1}, {false, 80, 1}});
  EXPECT_TRUE(on_cpu_device(program).runs);
  program.libraries = {"libnvrtc.so.13"};
  EXPECT_TRUE(on_cpu_device(program).runs);
  program.libraries = {"libcudnn_ops.so.9"};
  EXPECT_FALSE(on_cpu_device(program).runs);
  program.libraries.clear();
  program.cudart = "libcudart.so.12";
  EXPECT_TRUE(on_cpu_device(program).runs);
  program.cudart = "libcudart.so.11.0";
  EXPECT_FALSE(on_cpu_device(program).runs);
  program.runtime = Program::Runtime::fixed;
  EXPECT_TRUE(on_cpu_device(program).runs);
  program.obstacle = Error{ErrorKind::unsupported, "was stripped", "app", "leave its symbols"};
  EXPECT_FALSE(on_cpu_device(program).runs);
  EXPECT_THAT(on_cpu_device(program).text, HasSubstr("it was stripped; leave its symbols"));
}

TEST(Verdict, CodeOfWhichOnlySomeHasPtxIsToldApart) {
  Program program = with_code({{true, 75, 1}, {false, 90, 1}});
  program.images = 3;
  program.images_without_ptx = 2;
  EXPECT_TRUE(on_cpu_device(program).runs);
  EXPECT_THAT(on_cpu_device(program).text, HasSubstr("2 of 3 images hold no PTX"));
  EXPECT_THAT(on_gpu(program, 90).text, HasSubstr("2 of 3 images hold no PTX"));
}

TEST(Libraries, AreKnownByTheirNamesUpToAWordsEnd) {
  EXPECT_TRUE(interpose::needs_gpu("libcublas.so.13"));
  EXPECT_TRUE(interpose::needs_gpu("libcublasLt.so.13"));
  EXPECT_TRUE(interpose::needs_gpu("libcudnn_graph.so.9"));
  EXPECT_TRUE(interpose::needs_gpu("libnppig.so.13"));
  EXPECT_FALSE(interpose::needs_gpu("libcublasting.so"));
  EXPECT_FALSE(interpose::needs_gpu("libcudart.so.13"));
}

}  // namespace
}  // namespace sluice::tools
