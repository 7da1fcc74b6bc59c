// The models of kernels as the analysis makes them.
#pragma once

#include "runtime/code/kernel_model.hpp"

namespace sluice::runtime {

// analysis_model_maker() makes models that lift and analyse PTX (analysis::KernelAnalysis).
ModelMaker analysis_model_maker();

}  // namespace sluice::runtime
