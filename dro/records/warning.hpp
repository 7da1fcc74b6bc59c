// The journal's record of a sentence for people.
#pragma once

#include <string>
#include <string_view>

#include "dro/fields.hpp"

namespace sluice::dro {

// WarningRecord says, for one, that the buffer rule lost a dependence.
struct WarningRecord {
  static constexpr std::string_view kind = "warning";
  static constexpr Role role = Role::left_out;
  std::string text;
};

template <>
inline constexpr auto members<WarningRecord> =
    [](auto& record, auto& member) { member("text", record.text); };

}  // namespace sluice::dro
