// What can't be compiled is one clear error; what can may be compiled by several threads at once.
#include <thread>

#include <gmock/gmock.h>
#include <pthread.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

using testing::HasSubstr;

std::string ptx(const std::string& rest) {
  return ".version 7.0\n.target sm_75\n.address_size 64\n" + rest;
}

std::string error_of(const std::string& text, const char* kernel = "k") {
  const std::unique_ptr<CompiledModule> module = compile_text(ptx(text));
  if (!module) return "not parsed";
  const Result<SluiceBlockCode> code = module->block_code(kernel, {32}, 0);
  return code ? "no error" : code.error().line();
}

TEST(JitErrors, NamesAFunctionThatNobodyDefines) {
  const std::string line = error_of(
      ".extern .func (.param .b32 r) elsewhere_defined(.param .b64 a, .param .b64 b);\n"
      ".visible .entry k() {\n"
      "  .reg .b32 %r<2>;\n"
      "  .reg .b64 %rd<2>;\n"
      "  mov.u64 %rd1, 0;\n"
      "  { .param .b64 p0; st.param.b64 [p0], %rd1; .param .b64 p1; st.param.b64 [p1], %rd1;\n"
      "    .param .b32 r0; call.uni (r0), elsewhere_defined, (p0, p1); ld.param.b32 %r1, [r0]; }\n"
      "  ret;\n}\n");
  EXPECT_THAT(line, HasSubstr("elsewhere_defined"));
  EXPECT_THAT(line, HasSubstr("kernel k"));
}

// error_on_a_small_stack() is error_of() on a thread with 1 MiB.
std::string error_on_a_small_stack(const std::string& text) {
  std::string error;
  auto work = [&] { error = error_of(text); };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{1} << 20U);
  pthread_t thread = {};
  const auto run = [](void* it) -> void* {
    (*static_cast<decltype(work)*>(it))();
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  return error;
}

TEST(JitErrors, RefusesALongChainOfFunctions) {
  std::string text = ".func f0() { ret; }\n";
  for (int i = 1; i <= 20'000; ++i) {
    text += ".func f" + std::to_string(i) + "() { call.uni f" + std::to_string(i - 1) +
            ", (); ret; }\n";
  }
  text += ".visible .entry k() { call.uni f20000, (); ret; }\n";
  EXPECT_THAT(error_on_a_small_stack(text), HasSubstr("more than 10000 calls to inline"));
}

TEST(JitErrors, TakesABarrierForTheWholeBlockByNumber) {
  EXPECT_EQ(error_of(".visible .entry k() {\n  bar.sync 1, 32;\n  ret;\n}\n"), "no error");
}

TEST(JitErrors, NamesALibraryFunctionWithAnotherSignature) {
  const std::string line = error_of(
      ".extern .func vprintf(.param .b32 a);\n"
      ".visible .entry k() {\n"
      "  .reg .b32 %r<2>;\n"
      "  mov.u32 %r1, 0;\n"
      "  { .param .b32 p0; st.param.b32 [p0], %r1; call.uni vprintf, (p0); }\n"
      "  ret;\n}\n");
  EXPECT_THAT(line, HasSubstr("vprintf is called with other parameters than CUDA's own has"));
}

TEST(JitErrors, RefusesBlocksThatAreTooLarge) {
  const std::unique_ptr<CompiledModule> module =
      compile_text(ptx(".visible .entry k() .maxntid 64, 2, 1 {\n  ret;\n}\n"));
  ASSERT_TRUE(module);
  EXPECT_EQ(module->facts("k")->max_threads, 128u);
  EXPECT_TRUE(module->block_code("k", {64, 2}, 0));
  const Result<SluiceBlockCode> code = module->block_code("k", {64, 3}, 0);
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().line(), HasSubstr("the limit is 128"));
  EXPECT_FALSE(module->block_code("k", {0}, 0));
  EXPECT_FALSE(module->block_code("missing", {32}, 0));
  EXPECT_FALSE(module->facts("missing"));
}

TEST(JitErrors, NamesAVariableWithoutStorage) {
  const std::string line = error_of(
      ".extern .global .align 4 .u32 elsewhere;\n"
      ".visible .entry k() {\n  .reg .b32 %r<2>;\n  ld.global.u32 %r1, [elsewhere];\n"
      "  st.global.u32 [elsewhere], %r1;\n  ret;\n}\n");
  EXPECT_THAT(line, HasSubstr("elsewhere"));
}

TEST(JitErrors, CompilesFromSeveralThreads) {
  Kernels kernels("jit_barriers");
  std::vector<std::thread> threads;
  std::vector<SluiceBlockFunction> same(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const Result<SluiceBlockCode> code = kernels.module().block_code("reduce", {64}, 0);
      if (code) same[i] = code->function;
      const char* others[] = {"early_exit", "count_block", "keeps_values", "barrier_in_arms"};
      EXPECT_TRUE(kernels.module().block_code(others[i], {64}, 0));
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_NE(same[0], nullptr);
  EXPECT_THAT(same, testing::Each(same[0]));
}

TEST(JitErrors, CountsDynamicSharedMemoryInTheScratch) {
  Kernels kernels("jit_barriers");
  const Result<SluiceBlockCode> none = kernels.module().block_code("reduce", {64}, 0);
  const Result<SluiceBlockCode> some = kernels.module().block_code("reduce", {64}, 1000);
  ASSERT_TRUE(none && some);
  EXPECT_EQ(none->function, some->function);
  EXPECT_EQ(none->scratch_bytes + 1000, some->scratch_bytes);
}

}  // namespace
}  // namespace sluice::hostcuda
