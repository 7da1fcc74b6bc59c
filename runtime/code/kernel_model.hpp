// How the runtime asks for footprints, without knowing how they are found.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/footprint.hpp"
#include "analysis/shape_family.hpp"
#include "analysis/value_flow.hpp"
#include "base/result.hpp"
#include "relation/budget.hpp"
#include "runtime/code/ptx_code.hpp"

namespace sluice::runtime {

// KernelModel is one kernel whose footprints can be asked for. One call at a time.
class KernelModel {
 public:
  virtual ~KernelModel() = default;
  virtual const analysis::KernelSignature& signature() const = 0;
  virtual analysis::Footprint footprint(const analysis::LaunchShape& shape) = 0;
  // family() is all shapes that the last answer of footprint() holds for, whose parameters its
  // symbols are, until the next call; null: that shape alone.
  virtual const analysis::ShapeFamily* family() const { return nullptr; }
  // is_like_last() is whether footprint() would find the answer where it found the last one: if
  // not, what that took says nothing.
  virtual bool is_like_last(const analysis::LaunchShape& /*shape*/) { return true; }
  // is_kept() is whether footprint() would find the answer where an earlier start has left it, and
  // so within some hundred microseconds. It may read a file. Never of what has to be analysed.
  virtual bool is_kept(const analysis::LaunchShape& /*shape*/) { return false; }
  // figures() are the numbers that an earlier start has left under a name for keep_figures() of the
  // same kernel; none where nothing is kept. Both may run beside the other calls and each other.
  virtual std::vector<uint64_t> figures(const std::string& /*name*/) const { return {}; }
  virtual void keep_figures(const std::string& /*name*/,
                            const std::vector<uint64_t>& /*figures*/) const {}
  // dearest() is what the dearest analysis so far took, as it counts itself.
  virtual Budget::Cost dearest() const { return {}; }
  // values() is looked for at each call, in milliseconds; it may run beside the others.
  virtual Result<analysis::ValueFlow> values(std::span<const std::byte> /*parameters*/) {
    return unsupported("this model knows no values");
  }
};

// What somebody who watches is told of an analysis that takes long.
constexpr std::chrono::milliseconds patience_with_analysis{200};
constexpr const char* slow_analysis = "which may take a while";

// ModelMaker makes the model of a kernel of an image, which outlives it; an error, also where the
// image defines no such kernel, becomes the reason for which its launches pass through. It is as
// thread-safe as what it was made of.
class ModelMaker {
 public:
  using Made = Result<std::unique_ptr<KernelModel>>;
  using Make = std::function<Made(PtxCode& code, std::string_view kernel)>;
  using Keep = std::function<std::unique_ptr<KernelModel>(PtxCode& code, std::string_view kernel)>;

  // `kept` gives the same model as `make` where an earlier start has left what that needs, within
  // some hundred microseconds beside a look at the image's text; else null.
  ModelMaker(Make make, Keep kept) : make_(std::move(make)), kept_(std::move(kept)) {}
  template <class Function>
    requires std::is_invocable_r_v<Made, Function&, PtxCode&, std::string_view> &&
             (!std::is_same_v<Function, ModelMaker>)
  ModelMaker(Function make) : make_(std::move(make)) {}

  Made operator()(PtxCode& code, std::string_view kernel) const { return make_(code, kernel); }
  std::unique_ptr<KernelModel> kept(PtxCode& code, std::string_view kernel) const {
    return kept_ ? kept_(code, kernel) : nullptr;
  }

 private:
  Make make_;
  Keep kept_;
};

}  // namespace sluice::runtime
