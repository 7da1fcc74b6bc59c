// Compiled kernels on disk: found again, and never trusted when damaged.
#include "hostcuda/jit/object/code_cache.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/temporary_folder.hpp"
#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

namespace fs = std::filesystem;

const std::string& folder() {
  static const TemporaryFolder made("sluice-code-cache");
  return made.path();
}

// The process's cache is found at its first use.
const bool is_set = setenv("SLUICE_CODE_CACHE", folder().c_str(), 1) == 0;

const char* const text =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".global .align 4 .u32 sum = 100;\n"
    ".visible .entry add(.param .u32 amount, .param .u64 out) {\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
    "ld.param.u32 %r1, [amount]; ld.global.u32 %r2, [sum]; add.u32 %r3, %r1, %r2;\n"
    "st.global.u32 [sum], %r3; ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r3;\n"
    "ret;\n}\n";

// run_add() loads the module anew, launches it twice and returns the sum: 100 + 2 * amount.
uint32_t run_add(uint32_t amount) {
  const std::unique_ptr<CompiledModule> module = compile_text(text);
  const Result<SluiceBlockCode> code = module->block_code("add", {1}, 0);
  if (!code) return 0;
  uint32_t out = 0;
  struct {
    uint64_t amount;
    uint32_t* out;
  } const parameters{amount, &out};
  const SluiceBlockLaunch launch{&parameters, {1, 1, 1}, 0};
  alignas(64) std::byte scratch[4096];
  EXPECT_LE(code->scratch_bytes, sizeof scratch);
  code->function(&launch, 0, 1, scratch);
  code->function(&launch, 0, 1, scratch);
  return out;
}

std::vector<fs::path> files() {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder()))
    found.push_back(entry.path());
  return found;
}

class CodeCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const fs::path& file : files())
      fs::remove(file);
    ASSERT_EQ(run_add(1), 102u);
    ASSERT_EQ(files().size(), 1u);
    file_ = files()[0];
  }

  // expect_compiles() runs the kernel once more: the damaged file is passed over and replaced.
  void expect_compiles() {
    const jit::CodeCounts before = jit::code_counts();
    EXPECT_EQ(run_add(2), 104u);
    EXPECT_EQ(jit::code_counts().compiled, before.compiled + 1);
    EXPECT_EQ(run_add(3), 106u);
    EXPECT_EQ(jit::code_counts().loaded, before.loaded + 1);
    EXPECT_EQ(files(), std::vector<fs::path>{file_});
  }

  fs::path file_;
};

TEST_F(CodeCacheTest, TakesCodeFromDiskWithVariablesOfItsOwnModule) {
  const jit::CodeCounts before = jit::code_counts();
  EXPECT_EQ(run_add(5), 110u);
  EXPECT_EQ(run_add(6), 112u);
  EXPECT_EQ(jit::code_counts().loaded, before.loaded + 2);
  EXPECT_EQ(jit::code_counts().compiled, before.compiled);
}

TEST_F(CodeCacheTest, EveryTruncationCountsAsMissing) {
  const auto whole = static_cast<size_t>(fs::file_size(file_));
  std::ifstream in(file_, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const jit::CodeCache cache(folder());
  for (size_t size = 0; size < whole; size += 1 + whole / 200) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(size));
    ASSERT_EQ(run_add(1), 102u) << size;
  }
  fs::resize_file(file_, whole - 1);
  expect_compiles();
}

TEST_F(CodeCacheTest, AChangedByteCountsAsMissing) {
  for (const std::streamoff place : {std::streamoff{0}, std::streamoff{8}, std::streamoff{48},
                                     std::streamoff{60}, std::streamoff{700}}) {
    std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(place);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(place);
    file.put(byte);
    file.close();
    expect_compiles();
  }
}

TEST_F(CodeCacheTest, FilesThatOthersMayWriteAreNotRun) {
  ASSERT_EQ(chmod(file_.c_str(), 0666), 0);
  const jit::CodeCounts before = jit::code_counts();
  EXPECT_EQ(run_add(2), 104u);
  EXPECT_EQ(jit::code_counts().compiled, before.compiled + 1);
}

jit::KernelCode code_of(const std::string& object, bool waits_for_blocks) {
  return {llvm::MemoryBuffer::getMemBufferCopy(object), "symbol", 12, waits_for_blocks};
}

TEST_F(CodeCacheTest, KeysDecide) {
  const jit::CodeCache cache(folder());
  cache.store("key a", code_of("object", true));
  const std::optional<jit::KernelCode> found = cache.load("key a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->symbol, "symbol");
  EXPECT_EQ(found->scratch_bytes, 12u);
  EXPECT_TRUE(found->waits_for_blocks);
  EXPECT_EQ(found->object->getBuffer(), "object");
  EXPECT_FALSE(cache.load("key b"));
  // Another key's file under this key's name, as after a collision.
  for (const fs::path& file : files()) {
    if (file != file_) fs::rename(file, file_);
  }
  expect_compiles();
}

TEST_F(CodeCacheTest, ProcessesSideBySideNeverSeeHalfAFile) {
  const jit::CodeCache cache(folder());
  const std::string content(300000, 'x');
  std::vector<pid_t> writers;
  for (int process = 0; process < 3; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 50; ++i)
        cache.store("shared", code_of(content, false));
      _exit(0);
    }
    writers.push_back(child);
  }
  for (int i = 0; i < 100; ++i) {
    if (const std::optional<jit::KernelCode> found = cache.load("shared")) {
      ASSERT_EQ(found->object->getBuffer(), content);
    }
  }
  for (pid_t child : writers) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(cache.load("shared"));
  EXPECT_EQ(files().size(), 2u);  // and nothing temporary
}

// A kernel whose threads hold `values` numbers each through a loop.
std::string holding_kernel(int values) {
  std::string loads;
  std::string uses;
  for (int i = 0; i < values; ++i) {
    loads += fmt::format("ld.global.f32 %f{}, [%rd2+{}];\n", i, 128 * i);
    uses +=
        fmt::format("ld.shared.f32 %g0, [%r2+{}]; fma.rn.f32 %f99, %f{}, %g0, %f99;\n", 4 * i, i);
  }
  return ".version 8.5\n.target sm_75\n.address_size 64\n"
         ".visible .entry kernel(.param .u64 memory) {\n.shared .align 4 .b8 tile[1024];\n"
         ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<100>; .reg .f32 "
         "%g<2>;\n"
         "ld.param.u64 %rd0, [memory]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4;\n"
         "add.s64 %rd2, %rd0, %rd1; mov.u32 %r2, tile; mov.f32 %f99, 0f00000000;\n"
         "shl.b32 %r4, %r0, 2; add.s32 %r4, %r4, %r2; ld.global.f32 %g1, [%rd2]; st.shared.f32 "
         "[%r4], %g1;\n"
         "bar.sync 0;\nmov.u32 %r3, 0;\n" +
         loads + "LOOP:\n" + uses +
         "add.s32 %r2, %r2, 4; add.s32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 16; @%p1 bra LOOP;\n"
         "st.global.f32 [%rd2], %f99; ret;\n}\n";
}

TEST_F(CodeCacheTest, VectorsOnTheStackLieWithinCacheLines) {
  const std::unique_ptr<CompiledModule> module = compile_text(holding_kernel(60));
  ASSERT_TRUE(module->block_code("kernel", {32}, 0));
  std::string code;
  for (const fs::path& file : files()) {
    if (file == file_) continue;
    std::ifstream in(file, std::ios::binary);
    code = {std::istreambuf_iterator<char>(in), {}};
  }
  // `and rsp, -64` or `and rsp, -32`, as wide as the processor's vectors.
  EXPECT_TRUE(code.find("\x48\x83\xe4\xc0") != std::string::npos ||
              code.find("\x48\x83\xe4\xe0") != std::string::npos);
}

}  // namespace
}  // namespace sluice::hostcuda
