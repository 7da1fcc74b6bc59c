// `sluice explain`: what kernels read and write, in text for people who know CUDA.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "base/terminal/fitted_name.hpp"
#include "ptx/syntax.hpp"
#include "ptx/text/source_lines.hpp"
#include "tools/explain/recorded_launches.hpp"

namespace sluice::tools {

// ShapeChoice is the launch that a kernel is explained for. What is not chosen is an example's.
struct ShapeChoice {
  std::optional<Dim3> grid;
  std::optional<Dim3> block;
  uint32_t dynamic_shared_bytes = 0;
  std::map<uint32_t, uint64_t> arguments;             // value of a scalar argument, by its number
  std::optional<std::vector<uint64_t>> shape_values;  // all of them, as a journal has them

  std::string origin;  // for people, where the launch comes from: "launch #1"
};

// Explainer makes the texts. Not thread-safe.
class Explainer {
 public:
  // With `isl`, each relation is printed too, in isl's notation. Names are shortened to lines of
  // `width` columns.
  explicit Explainer(bool isl, size_t width = usual_width) : isl_(isl), width_(width) {}

  // kernel() explains one kernel of a module. A kernel that is not understood says why; that is
  // no error. An error where the choice does not fit the kernel.
  Result<std::string> kernel(const ptx::Module& module, const ptx::Function& function,
                             const ShapeChoice& choice);

  // footprint() explains what a journal kept of a launch; there are no source lines then, and of
  // the arguments only what the kernel's mangled name tells. `origin` is as in a choice.
  std::string footprint(const analysis::Footprint& footprint, const std::string& origin);

  // not_followed() is for a kernel of which a journal has no footprint.
  std::string not_followed(const RecordedKernel& recorded);

 private:
  bool isl_;
  size_t width_;
  ptx::SourceFiles files_;
};

}  // namespace sluice::tools
