// A footprint beside what the threads of a random kernel really touch.
#pragma once

#include <string>

#include "analysis/footprint.hpp"
#include "analysis/kernel_analysis.hpp"
#include "evaluation.hpp"
#include "kernel_tree.hpp"

namespace sluice::analysis::random {

struct Verdict {
  // What is wrong, for people: empty where all that is touched lies in the footprint, must-writes
  // were written, and accesses that claim to be exact are.
  std::string unsound;
  // The first access whose bytes are not those of the footprint, with the reason that the
  // footprint gives: empty where every block's are.
  std::string inexact;
  bool opaque = false;
};

// launch_shape() is the shape of a kernel's launch, scalars in the signature's order.
LaunchShape launch_shape(const Kernel& kernel, const KernelSignature& signature);

Verdict compare(const Kernel& kernel, const Effects& effects, const KernelSignature& signature,
                const Footprint& footprint);

}  // namespace sluice::analysis::random
