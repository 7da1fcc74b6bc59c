// The launch that a kernel is explained for.
#pragma once

#include "analysis/kernel_analysis.hpp"
#include "base/result.hpp"
#include "ptx/syntax.hpp"
#include "tools/explain/explainer.hpp"

namespace sluice::tools {

// shape_for() completes a choice: a small grid in which every dimension that the kernel uses has
// blocks that do not touch the grid's edge, and for each shape scalar the extent of the grid in
// threads, or a smaller number where nothing would be touched with that. An error where the
// choice names no argument of the kernel.
Result<analysis::LaunchShape> shape_for(const ptx::Function& kernel,
                                        analysis::KernelAnalysis& analysis,
                                        const ShapeChoice& choice);

}  // namespace sluice::tools
