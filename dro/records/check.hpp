// The journal's record of the footprint check: what the blocks of one kernel really touched, beside
// what its footprints claim.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "dro/fields.hpp"

namespace sluice::dro {

// CheckRecord adds up all launches of one kernel. Bytes are summed over blocks.
struct CheckRecord {
  static constexpr std::string_view kind = "check";
  static constexpr Role role = Role::left_out;
  struct Argument {
    std::string name;
    uint64_t read_bytes_claimed = 0;
    uint64_t read_bytes_touched = 0;
    uint64_t written_bytes_claimed = 0;
    uint64_t written_bytes_touched = 0;
    uint64_t must_write_bytes = 0;  // claimed as must-writes
  };
  std::string kernel;
  uint64_t launches = 0;   // checked
  uint64_t unchecked = 0;  // launches that were opaque or ran without block code
  uint64_t blocks = 0;     // checked
  // Of the launches that are checked. Journals from before blocks could be left out lack it.
  std::optional<uint64_t> launched_blocks = 0;
  uint64_t violations = 0;
  std::vector<Argument> arguments;
};

template <>
inline constexpr auto members<CheckRecord::Argument> = [](auto& argument, auto& member) {
  member("name", argument.name);
  member("reads", std::tie(argument.read_bytes_touched, argument.read_bytes_claimed));
  member("writes", std::tie(argument.written_bytes_touched, argument.written_bytes_claimed));
  member("must_writes", argument.must_write_bytes);
};

template <>
inline constexpr auto members<CheckRecord> = [](auto& check, auto& member) {
  member("kernel", check.kernel);
  member("launches", check.launches);
  member("unchecked", check.unchecked);
  member("blocks", check.blocks);
  member("launched_blocks", check.launched_blocks);
  member("violations", check.violations);
  member("arguments", check.arguments);
};

}  // namespace sluice::dro
