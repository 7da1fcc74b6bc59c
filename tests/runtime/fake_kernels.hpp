// Kernels for tests: hand-written footprints and block functions, no PTX behind their bodies.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "hostcuda/block_abi.h"
#include "relation_text.hpp"
#include "runtime/code/kernel_model.hpp"

namespace sluice::runtime::testing {

// FakeKernel is a kernel; its address serves as its CUfunction.
struct FakeKernel {
  analysis::KernelSignature signature;
  SluiceBlockFunction run = nullptr;
  std::function<analysis::Footprint(const analysis::LaunchShape&)> footprint;
  // Of a footprint with symbols.
  std::optional<analysis::ShapeFamily> family = {};
  std::atomic<int> footprints_asked{0};
};

constexpr uint32_t cells_per_block = 8;

// StepArguments is the parameter block of step(in, out, n), which ends before C++'s padding.
constexpr size_t step_argument_bytes = 20;
struct StepArguments {
  const float* in;
  float* out;
  uint32_t n;
};

// A 3-point Jacobi step over n cells, cells_per_block of them a block; the borders stay.
inline void run_step(const SluiceBlockLaunch* launch, uint32_t first_block, uint32_t block_count,
                     void*) {
  StepArguments a{};
  std::memcpy(&a, launch->parameters, step_argument_bytes);
  const uint32_t end = (first_block + block_count) * cells_per_block;
  for (uint32_t i = first_block * cells_per_block; i < end; ++i) {
    if (i >= 1 && i + 1 < a.n)
      a.out[i] = 0.25F * a.in[i - 1] + 0.5F * a.in[i] + 0.25F * a.in[i + 1];
  }
}

inline analysis::Footprint step_footprint(const analysis::LaunchShape& shape) {
  const uint64_t n = shape.shape_values.at(0);
  const std::string blocks = fmt::format("0 <= x < {} and y = 0 and z = 0", shape.grid.x);
  analysis::Footprint footprint;
  footprint.kernel = "step";
  footprint.shape = shape;
  footprint.arguments.resize(2);
  footprint.arguments[0].reads.relation = sluice::testing::relation_of(fmt::format(
      "{{ B[x, y, z] -> A[o] : {} and 32x - 4 <= o < 32x + 36 and 0 <= o < {} }}", blocks, 4 * n));
  footprint.arguments[1].must_writes.relation = sluice::testing::relation_of(fmt::format(
      "{{ B[x, y, z] -> A[o] : {} and 32x <= o < 32x + 32 and 4 <= o < {} }}", blocks, 4 * n - 4));
  return footprint;
}

inline void run_nothing(const SluiceBlockLaunch*, uint32_t, uint32_t, void*) {}

// FakeKernels are the kernels of one test: "step"; "opaque", whose footprint is opaque; "unused",
// which takes a pointer that it never uses; and "unmodelled", which no model can be made of.
class FakeKernels {
 public:
  FakeKernels() {
    FakeKernel& step = kernels_["step"];
    step.signature = {"step",
                      {{"in", 0, 8}, {"out", 8, 8}, {"n", 16, 4}},
                      step_argument_bytes,
                      {{"in", 0, 8}, {"out", 8, 8}},
                      {{"n", 16, 4}}};
    step.run = run_step;
    step.footprint = step_footprint;

    FakeKernel& opaque = kernels_["opaque"];
    opaque.signature = {.kernel = "opaque"};
    opaque.run = run_nothing;
    opaque.footprint = [](const analysis::LaunchShape& shape) {
      return analysis::Footprint{.kernel = "opaque",
                                 .shape = shape,
                                 .opaque_reason = {analysis::Widening::loaded_pointer, 3}};
    };

    FakeKernel& unused = kernels_["unused"];
    unused.signature = {"unused", {{"p", 0, 8}}, 8, {{"p", 0, 8}}, {}};
    unused.run = run_nothing;
    unused.footprint = [](const analysis::LaunchShape& shape) {
      return analysis::Footprint{.kernel = "unused", .shape = shape, .arguments = {{}}};
    };

    FakeKernel& unmodelled = kernels_["unmodelled"];
    unmodelled.signature = {.kernel = "unmodelled"};
    unmodelled.run = run_nothing;
  }

  FakeKernel& operator[](const std::string& name) { return kernels_.at(name); }

  // ptx() is a module that declares all of them.
  std::string ptx() const {
    std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n";
    for (const auto& [name, kernel] : kernels_) {
      text += fmt::format(".visible .entry {}()\n{{\n\tret;\n}}\n", name);
    }
    return text;
  }

  ModelMaker maker() {
    return [this](PtxCode&, std::string_view name) -> Result<std::unique_ptr<KernelModel>> {
      FakeKernel& kernel = kernels_.at(std::string(name));
      if (!kernel.footprint) return unsupported("it uses an instruction that nobody knows");
      return std::make_unique<Model>(kernel);
    };
  }

 private:
  class Model final : public KernelModel {
   public:
    explicit Model(FakeKernel& kernel) : kernel_(kernel) {}
    const analysis::KernelSignature& signature() const override { return kernel_.signature; }
    analysis::Footprint footprint(const analysis::LaunchShape& shape) override {
      ++kernel_.footprints_asked;
      analysis::Footprint footprint = kernel_.footprint(shape);
      is_of_family_ = !footprint.symbols.empty();
      return footprint;
    }
    const analysis::ShapeFamily* family() const override {
      return is_of_family_ && kernel_.family ? &*kernel_.family : nullptr;
    }

   private:
    FakeKernel& kernel_;
    bool is_of_family_ = false;
  };

  std::map<std::string, FakeKernel> kernels_;
};

}  // namespace sluice::runtime::testing
