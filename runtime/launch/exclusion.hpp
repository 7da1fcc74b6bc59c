// Launches that the user keeps from Sluice, to find the one that goes wrong.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace sluice::runtime {

// Exclusion is a list of kernels and of launches by number. What it holds passes through. Not
// thread-safe.
class Exclusion {
 public:
  static constexpr const char* why = "SLUICE_EXCLUDE names it";

  // read() takes entries between commas: a launch's number as the journal counts them, from 1 on; a
  // range of numbers, both ends with it ("12-40"); or a pattern for a kernel's name, as the driver
  // knows it or as it was written without its parameters, with *, ? and [...] as in a shell. An
  // error names the entry that is none of them.
  static Result<Exclusion> read(const std::string& text);

  bool is_empty() const { return numbers_.empty() && patterns_.empty(); }
  bool holds(const std::string& kernel, uint64_t number);

 private:
  bool names(const std::string& kernel) const;

  std::vector<std::pair<uint64_t, uint64_t>> numbers_;  // first and last
  std::vector<std::string> patterns_;
  std::unordered_map<std::string, bool> known_;  // kernels that were looked at
};

}  // namespace sluice::runtime
