// Specialise, then analyse: one kernel's PTX and the shape of a launch give a footprint.
#pragma once

#include <memory>
#include <string_view>

#include "analysis/footprint.hpp"
#include "analysis/shape_family.hpp"
#include "base/result.hpp"
#include "ptx/syntax.hpp"
#include "relation/budget.hpp"

namespace sluice::analysis {

// KernelAnalysis is one kernel, lifted once, ready to be specialised for any launch shape.
//
//   auto analysis = KernelAnalysis::create(module, "stencil");
//   Footprint f = (*analysis)->footprint({.grid = {8, 8}, .block = {2, 2}, .shape_values = {16}});
//
// Not thread-safe: one call at a time for each object; distinct objects are independent.
class KernelAnalysis {
 public:
  // create() lifts the kernel and finds its pointer slots and shape scalars. An error where the
  // kernel is missing or cannot be lifted.
  static Result<std::unique_ptr<KernelAnalysis>> create(const ptx::Module& module,
                                                        std::string_view kernel);
  ~KernelAnalysis();

  const KernelSignature& signature() const;

  // footprint() analyses one shape. It never fails: what cannot be bounded is whole_buffer, and
  // what cannot be understood makes the footprint opaque, each with its reason.
  // A shape that differs from earlier ones in a few integers (the pivot of an elimination) may get
  // its footprint from one that has them as parameters: that is no analysis of its own.
  Footprint footprint(const LaunchShape& shape);

  // family() is all shapes that the last footprint() holds for, whose parameters its symbols are,
  // until the next call; null: that shape alone.
  const ShapeFamily* family() const;

  // analyses() counts how often a shape, or a family of shapes, had to be analysed so far.
  uint64_t analyses() const;

  // dearest() is what the dearest of them took, at most analysis_cost.
  Budget::Cost dearest() const;

 private:
  struct State;
  explicit KernelAnalysis(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice::analysis
