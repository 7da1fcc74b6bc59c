#include "ptx/lift/modifiers.hpp"

#include <algorithm>

namespace sluice::ptx::lift_detail {

Modifiers::Modifiers(const std::vector<std::string>& modifiers)
    : modifiers_(modifiers.begin(), modifiers.end()) {}

bool Modifiers::take(std::string_view modifier) {
  auto found = std::find(modifiers_.begin(), modifiers_.end(), modifier);
  if (found == modifiers_.end()) return false;
  modifiers_.erase(found);
  return true;
}

std::optional<std::string_view> Modifiers::take_any(
    std::initializer_list<std::string_view> modifiers) {
  for (std::string_view modifier : modifiers) {
    if (take(modifier)) return modifier;
  }
  return std::nullopt;
}

std::optional<std::string_view> Modifiers::take_first(
    std::initializer_list<std::string_view> modifiers) {
  const auto found =
      std::find_first_of(modifiers_.begin(), modifiers_.end(), modifiers.begin(), modifiers.end());
  if (found == modifiers_.end()) return std::nullopt;
  const std::string_view modifier = *found;
  modifiers_.erase(found);
  return modifier;
}

void Modifiers::take_all(std::initializer_list<std::string_view> modifiers) {
  for (std::string_view modifier : modifiers)
    take(modifier);
}

size_t Modifiers::take_prefixed(std::string_view prefix) {
  return std::erase_if(modifiers_,
                       [&](std::string_view modifier) { return modifier.starts_with(prefix); });
}

std::optional<ScalarType> Modifiers::take_type() {
  for (auto it = modifiers_.begin(); it != modifiers_.end(); ++it) {
    if (auto type = scalar_type(*it)) {
      modifiers_.erase(it);
      return type;
    }
  }
  return std::nullopt;
}

std::string_view Modifiers::left_over() const {
  return modifiers_.empty() ? std::string_view() : modifiers_.front();
}

}  // namespace sluice::ptx::lift_detail
