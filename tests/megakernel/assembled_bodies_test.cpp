// Every kernel of the corpus, rewritten, is assembled by ptxas for each architecture, and costs
// few registers more than the kernel that it came from.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/assemble.hpp"
#include "megakernel/cuda/body.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace sluice::megakernel {
namespace {

namespace fs = std::filesystem;

// An entry of the kernel's name that runs one block of the body, as a worker does.
std::string worker_of(const TaskBody& body, const std::string& kernel) {
  return fmt::format(
      ".visible .entry {}()\n{{\n.reg .b32 %c<3>;\n.param .b32 x;\n.param .b32 y;\n.param .b32 z;\n"
      "mov.u32 %c0, %ctaid.x;\nmov.u32 %c1, %ctaid.y;\nmov.u32 %c2, %ctaid.z;\n"
      "st.param.b32 [x], %c0;\nst.param.b32 [y], %c1;\nst.param.b32 [z], %c2;\n"
      "call {}, (x, y, z);\nret;\n}}\n",
      kernel, body.function);
}

struct Rewritten {
  std::string text;
  std::vector<std::string> kernels;
  std::vector<std::string> refusals;
};

Rewritten rewrite_all(const ptx::Module& module) {
  Rewritten result;
  ptx::Module bodies = module;
  bodies.items.clear();
  std::string workers;
  std::vector<std::string> prototypes;
  for (const ptx::Function* kernel : module.kernels()) {
    const Result<TaskBody> body =
        rewrite_body(module, kernel->name, {256, 1, 1}, fmt::format("b{}_", result.kernels.size()));
    if (!body) {
      EXPECT_EQ(body.error().kind, ErrorKind::unsupported) << body.error().line();
      result.refusals.push_back(body.error().line());
      continue;
    }
    for (const ptx::ModuleItem& item : body->items) {
      const auto* function = std::get_if<ptx::Function>(&item);
      if (function != nullptr && function->linkage == "extern") {
        if (std::count(prototypes.begin(), prototypes.end(), function->name) > 0) continue;
        prototypes.push_back(function->name);
      }
      bodies.items.push_back(item);
    }
    workers += worker_of(*body, kernel->name);
    result.kernels.push_back(kernel->name);
  }
  std::erase(bodies.target, "debug");
  std::string text = ptx::print(bodies);
  const size_t header = text.find("\n\n");
  text.insert(header + 1, ".extern .shared .align 128 .b8 sluice_pool[];\n");
  result.text = text + workers;
  return result;
}

class AssembledBodies : public ::testing::TestWithParam<unsigned> {};

TEST_P(AssembledBodies, CostFewRegistersAndNoStack) {
  const unsigned architecture = GetParam();
  std::vector<int> extra;
  size_t kernels = 0;
  for (const auto& file : fs::directory_iterator(SLUICE_TEST_CORPUS)) {
    const std::string name = file.path().filename().string();
    if (file.path().extension() != ".ptx") continue;
    std::ifstream stream(file.path());
    const std::string source((std::istreambuf_iterator<char>(stream)), {});
    const auto module = ptx::parse(source, name);
    ASSERT_TRUE(module) << module.error().line();
    const std::string& target = module->target.front();
    if (static_cast<unsigned>(std::stoi(target.substr(3))) > architecture) continue;
    const Rewritten rewritten = rewrite_all(*module);
    kernels += rewritten.kernels.size();
    for (const std::string& refusal : rewritten.refusals)
      std::printf("refused: %s: %s\n", name.c_str(), refusal.c_str());
    if (rewritten.kernels.empty()) continue;
    const auto after = testing::assemble_text(rewritten.text, "bodies_" + name, architecture);
    // Debug code is compiled without optimisation and says nothing of the rewriter's cost.
    const bool is_debug = name.find("_debug") != std::string::npos;
    const auto before = is_debug ? after : testing::assemble(file.path().string(), architecture);
    for (const std::string& kernel : rewritten.kernels) {
      const testing::Cost& with = after.at(kernel);
      const testing::Cost& without = before.at(kernel);
      extra.push_back(with.registers - without.registers);
      EXPECT_TRUE(without.stack != 0 || with.stack == 0) << name << ": " << kernel;
    }
  }
  ASSERT_FALSE(extra.empty());
  std::sort(extra.begin(), extra.end());
  const int median = extra[extra.size() / 2];
  std::printf("sm_%u: %zu kernels rewritten, registers more: median %d, most %d\n", architecture,
              kernels, median, extra.back());
  EXPECT_LE(median, 12);
}

INSTANTIATE_TEST_SUITE_P(Architectures, AssembledBodies, ::testing::Values(75, 80, 90, 100, 120),
                         [](const auto& info) { return fmt::format("sm_{}", info.param); });

}  // namespace
}  // namespace sluice::megakernel
