#include "runtime/code/analysis_model.hpp"

#include <utility>

#include "analysis/kernel_analysis.hpp"

namespace sluice::runtime {
namespace {

class AnalysisModel final : public KernelModel {
 public:
  explicit AnalysisModel(std::unique_ptr<analysis::KernelAnalysis> analysis)
      : analysis_(std::move(analysis)) {}

  const analysis::KernelSignature& signature() const override { return analysis_->signature(); }
  analysis::Footprint footprint(const analysis::LaunchShape& shape) override {
    return analysis_->footprint(shape);
  }

 private:
  std::unique_ptr<analysis::KernelAnalysis> analysis_;
};

}  // namespace

ModelMaker analysis_model_maker() {
  return [](PtxCode& code, std::string_view kernel) -> Result<std::unique_ptr<KernelModel>> {
    const Result<const ptx::Module*> module = code.module_with(kernel);
    if (!module) return tl::unexpected<Error>(module.error());
    return analysis::KernelAnalysis::create(**module, kernel)
        .map([](std::unique_ptr<analysis::KernelAnalysis>&& analysis)
                 -> std::unique_ptr<KernelModel> {
          return std::make_unique<AnalysisModel>(std::move(analysis));
        });
  };
}

}  // namespace sluice::runtime
