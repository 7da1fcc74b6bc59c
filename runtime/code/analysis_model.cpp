#include "runtime/code/analysis_model.hpp"

#include <utility>

#include "analysis/kernel_analysis.hpp"
#include "analysis/value_flow.hpp"

namespace sluice::runtime {
namespace {

class AnalysisModel final : public KernelModel {
 public:
  // The module outlives the model.
  AnalysisModel(std::unique_ptr<analysis::KernelAnalysis> analysis, const ptx::Module& module)
      : analysis_(std::move(analysis)), module_(module) {}

  const analysis::KernelSignature& signature() const override { return analysis_->signature(); }
  analysis::Footprint footprint(const analysis::LaunchShape& shape) override {
    return analysis_->footprint(shape);
  }
  const analysis::ShapeFamily* family() const override { return analysis_->family(); }
  Budget::Cost dearest() const override { return analysis_->dearest(); }
  Result<analysis::ValueFlow> values(std::span<const std::byte> parameters) override {
    return analysis::value_flow(module_, signature().kernel, parameters);
  }

 private:
  std::unique_ptr<analysis::KernelAnalysis> analysis_;
  const ptx::Module& module_;
};

}  // namespace

ModelMaker analysis_model_maker() {
  return [](PtxCode& code, std::string_view kernel) -> Result<std::unique_ptr<KernelModel>> {
    const Result<const ptx::Module*> module = code.module_with(kernel);
    if (!module) return tl::unexpected<Error>(module.error());
    return analysis::KernelAnalysis::create(**module, kernel)
        .map([&](std::unique_ptr<analysis::KernelAnalysis>&& analysis)
                 -> std::unique_ptr<KernelModel> {
          return std::make_unique<AnalysisModel>(std::move(analysis), **module);
        });
  };
}

}  // namespace sluice::runtime
