// Running a kernel of a test file block by block.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/dim3.hpp"
#include "hostcuda/jit/block_compiler.hpp"

namespace sluice::hostcuda {

// Kernels is one compiled test file.
class Kernels {
 public:
  // Reads <name>.ptx from where the build put it.
  explicit Kernels(const std::string& name);

  explicit Kernels(std::unique_ptr<CompiledModule> module) : module_(std::move(module)) {}

  CompiledModule& module() { return *module_; }

  // run() launches with all blocks in one call of the block function, with the arguments at the
  // places that the module gives for them.
  template <class... Arguments>
  void run(std::string_view kernel, const Dim3& grid, const Dim3& block, uint32_t dynamic_shared,
           const Arguments&... arguments) {
    run_on(1, kernel, grid, block, dynamic_shared, arguments...);
  }

  // run_on() spreads the blocks over several threads.
  template <class... Arguments>
  void run_on(unsigned workers, std::string_view kernel, const Dim3& grid, const Dim3& block,
              uint32_t dynamic_shared, const Arguments&... arguments) {
    const Result<KernelFacts> facts = module_->facts(kernel);
    ASSERT_TRUE(facts) << facts.error().line();
    ASSERT_EQ(facts->parameters.size(), sizeof...(Arguments));
    std::vector<std::byte> parameters(facts->parameter_bytes + 1);
    size_t next = 0;
    const auto place = [&](const auto& argument) {
      const KernelFacts::Parameter& parameter = facts->parameters[next++];
      ASSERT_EQ(parameter.size, sizeof(argument)) << "parameter " << next - 1;
      std::memcpy(parameters.data() + parameter.offset, &argument, sizeof(argument));
    };
    (place(arguments), ...);
    launch(workers, kernel, grid, block, dynamic_shared, parameters.data());
  }

 private:
  void launch(unsigned workers, std::string_view kernel, const Dim3& grid, const Dim3& block,
              uint32_t dynamic_shared, const void* parameters);

  std::unique_ptr<CompiledModule> module_;
};

// compile_text() parses PTX written in a test.
std::unique_ptr<CompiledModule> compile_text(std::string_view ptx);

}  // namespace sluice::hostcuda
