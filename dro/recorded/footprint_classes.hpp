// How precise the footprints of a run are: one class for each kernel and launch shape.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "base/terminal/fitted_name.hpp"

namespace sluice::dro {

// FootprintClass is the least precise access of a footprint; opaque where there is none.
enum class FootprintClass { exact, bounded, whole_buffer, opaque };

// ClassifiedShape is one kernel with one launch shape. An opaque kernel's shape is its grid and
// block: which scalars matter to it is not known.
struct ClassifiedShape {
  std::string kernel;
  analysis::LaunchShape shape;
  FootprintClass kind = FootprintClass::exact;
  std::vector<analysis::ArgumentFootprint> arguments;  // without relations
  std::string reason;                                  // of an opaque one
};

// classify_footprints() lists the pairs of kernel and launch shape of the journal at `path`, in the
// order of their first launch. Launches without a footprint of a kernel that has others (they were
// passed through unanalysed) are left out. Errors name the record.
Result<std::vector<ClassifiedShape>> classify_footprints(const std::string& path);

// write_classes() is a line for each pair, with the arguments that are not exact and why.
// Names are as name_in_line() has them.
void write_classes(const std::vector<ClassifiedShape>& shapes, std::ostream& out,
                   size_t width = usual_width);

// write_shares() is one line: how many pairs, and the share of each class.
void write_shares(const std::vector<ClassifiedShape>& shapes, const std::string& name,
                  std::ostream& out);

}  // namespace sluice::dro
