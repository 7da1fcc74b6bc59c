// How the runtime asks for footprints, without knowing how they are found.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "runtime/code/ptx_code.hpp"

namespace sluice::runtime {

// KernelModel is one kernel whose footprints can be asked for. One call at a time.
class KernelModel {
 public:
  virtual ~KernelModel() = default;
  virtual const analysis::KernelSignature& signature() const = 0;
  virtual analysis::Footprint footprint(const analysis::LaunchShape& shape) = 0;

  // has_not_paid() is whether note_not_paid() was called at this start of the program or, where
  // that is kept, at an earlier one: following the kernel's launches cost more than it could gain.
  virtual bool has_not_paid() const { return false; }
  virtual void note_not_paid() {}
};

// What somebody who watches is told of an analysis that takes long.
constexpr std::chrono::milliseconds patience_with_analysis{200};
constexpr const char* slow_analysis = "which may take a while";

// ModelMaker makes the model of a kernel of an image, which outlives it; an error, also where the
// image defines no such kernel, becomes the reason for which its launches pass through.
using ModelMaker =
    std::function<Result<std::unique_ptr<KernelModel>>(PtxCode& code, std::string_view kernel)>;

}  // namespace sluice::runtime
