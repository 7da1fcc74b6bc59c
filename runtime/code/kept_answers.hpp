// Answers of the analysis as they are kept on disk, and the families of shapes that they hold for.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/footprint.hpp"
#include "analysis/symbolic_footprint.hpp"

namespace sluice::runtime {

// Answer is a footprint that was analysed, and the family that it is of, if it is of one.
struct Answer {
  analysis::Footprint footprint;
  std::optional<analysis::ShapeFamily> family;
};

// text_of() is one sealed line, of an answer with a family two (journal_format.hpp); take_answer()
// reads it from the beginning of a text, which it takes out. Nothing where it is damaged.
std::string text_of(const Answer& answer);
std::optional<Answer> take_answer(std::string_view& text);
// take_line() is the value of the first line, an object; nothing where it is damaged.
std::optional<nlohmann::json> take_line(std::string_view& text);

// Families answer for every shape of theirs as the analysis does, which uses the one that it has
// used last. Not thread-safe.
class Families {
 public:
  // A shape scalar of which no number can be made rules families out.
  explicit Families(std::vector<analysis::ParameterSlot> scalars);

  // add() is false, and nothing was added, where the answer has no family, or one that does not
  // hold for its own shape. would_cover() is covers() of that family alone.
  bool add(const Answer& answer);
  bool would_cover(const Answer& answer, const analysis::LaunchShape& shape) const;
  bool covers(const analysis::LaunchShape& shape) const;
  std::optional<analysis::Footprint> at(const analysis::LaunchShape& shape);

 private:
  std::optional<analysis::SymbolicFootprint> made_of(const Answer& answer) const;

  const std::vector<analysis::ParameterSlot> scalars_;
  bool can_be_ = true;
  std::list<analysis::SymbolicFootprint> all_;  // the last one used first
};

}  // namespace sluice::runtime
