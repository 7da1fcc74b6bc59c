#include "hostcuda/jit/run_kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "ptx/parser.hpp"

namespace sluice::hostcuda {
namespace {

// The same tests run once more with SLUICE_FIRST_CODE=quick.
FirstCode wanted_code() {
  const FirstCode wanted = first_code();
  return wanted == FirstCode::soon ? FirstCode::good : wanted;
}

}  // namespace

Kernels::Kernels(const std::string& name) {
  const std::string path = std::string(SLUICE_TEST_PTX) + "/" + name + ".ptx";
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  module_ = compile_text(text);
}

std::unique_ptr<CompiledModule> compile_text(std::string_view ptx) {
  Result<ptx::Module> parsed = ptx::parse(ptx);
  EXPECT_TRUE(parsed) << parsed.error().line();
  if (!parsed) return nullptr;
  Result<std::unique_ptr<CompiledModule>> module =
      CompiledModule::create(std::move(*parsed), wanted_code());
  EXPECT_TRUE(module) << module.error().line();
  return module ? std::move(*module) : nullptr;
}

void Kernels::launch(unsigned workers, std::string_view kernel, const Dim3& grid, const Dim3& block,
                     uint32_t dynamic_shared, const void* parameters) {
  const Result<SluiceBlockCode> code = module_->block_code(kernel, block, dynamic_shared);
  ASSERT_TRUE(code) << code.error().line();
  const SluiceBlockLaunch launch = {parameters, {grid.x, grid.y, grid.z}, dynamic_shared};
  const auto blocks = static_cast<uint32_t>(grid.count());
  const uint32_t share = (blocks + workers - 1) / workers;
  const auto work = [&](uint32_t first) {
    if (first >= blocks) return;
    const uint64_t bytes = (code->scratch_bytes + 63) / 64 * 64 + 64;
    std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(64, bytes), &std::free);
    // Nothing may rely on what scratch memory holds at first, nor write past its end.
    std::memset(scratch.get(), 0xa5, bytes);
    code->function(&launch, first, std::min(share, blocks - first), scratch.get());
    const auto* end = static_cast<const unsigned char*>(scratch.get()) + code->scratch_bytes;
    const auto* stop = static_cast<const unsigned char*>(scratch.get()) + bytes;
    EXPECT_TRUE(std::all_of(end, stop, [](unsigned char byte) { return byte == 0xa5; }));
  };
  std::vector<std::thread> threads;
  for (unsigned worker = 1; worker < workers; ++worker)
    threads.emplace_back(work, worker * share);
  work(0);
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace sluice::hostcuda
