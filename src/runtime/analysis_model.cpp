#include "runtime/analysis_model.hpp"

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
  return [](const ptx::Module& module, std::string_view kernel, std::string_view) {
    return analysis::KernelAnalysis::create(module, kernel)
        .map([](std::unique_ptr<analysis::KernelAnalysis>&& analysis)
                 -> std::unique_ptr<KernelModel> {
          return std::make_unique<AnalysisModel>(std::move(analysis));
        });
  };
}

}  // namespace sluice::runtime
