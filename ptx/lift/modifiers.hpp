// The modifiers of one instruction, taken one by one so that none is overlooked.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/syntax.hpp"

namespace sluice::ptx::lift_detail {

// Modifiers hands out an instruction's modifiers. What a lifting function does not take is left
// over, and an instruction with something left over is refused.
class Modifiers {
 public:
  explicit Modifiers(const std::vector<std::string>& modifiers);

  // take() removes one modifier and says whether it was there.
  bool take(std::string_view modifier);

  // take_any() removes the first of `modifiers` that is there and returns it.
  std::optional<std::string_view> take_any(std::initializer_list<std::string_view> modifiers);

  // take_first() is the same for the first of the instruction's own modifiers that is among them.
  std::optional<std::string_view> take_first(std::initializer_list<std::string_view> modifiers);

  // take_all() removes every one of `modifiers`: hints that change no result.
  void take_all(std::initializer_list<std::string_view> modifiers);

  // take_prefixed() removes every modifier that starts with `prefix` and counts them.
  size_t take_prefixed(std::string_view prefix);

  // take_type() removes the first modifier that names a type.
  std::optional<ScalarType> take_type();

  // left_over() is the first modifier nobody took, empty where none is left.
  std::string_view left_over() const;

 private:
  std::vector<std::string_view> modifiers_;
};

}  // namespace sluice::ptx::lift_detail
