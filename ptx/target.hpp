// Which of two `.target` names is newer.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::ptx {

// TargetAge orders targets by age: sm_75 < sm_90 < sm_90a. Code for one with a letter runs on that
// architecture alone.
struct TargetAge {
  uint32_t architecture = 0;  // 90 of "sm_90a"; 0 where the name is none of a target
  std::string letter;         // "a"
  friend auto operator<=>(const TargetAge&, const TargetAge&) = default;
};

inline TargetAge target_age(std::string_view target) {
  TargetAge age;
  if (!target.starts_with("sm_")) return age;
  const char* const end = target.data() + target.size();
  age.letter.assign(std::from_chars(target.data() + 3, end, age.architecture).ptr, end);
  return age;
}

}  // namespace sluice::ptx
