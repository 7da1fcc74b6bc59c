#include "runtime/launch/exclusion.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fnmatch.h>

#include "base/demangle.hpp"

namespace sluice::runtime {
namespace {

Result<std::pair<uint64_t, uint64_t>> read_numbers(const std::string& entry) {
  const char* const end = entry.data() + entry.size();
  uint64_t first = 0;
  std::from_chars_result read = std::from_chars(entry.data(), end, first);
  uint64_t last = first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') {
    read = std::from_chars(read.ptr + 1, end, last);
  }
  if (read.ec == std::errc() && read.ptr == end && first <= last) return std::pair{first, last};
  return invalid_input("'" + entry + "' is no number and no range of numbers", {},
                       "write 12 or 12-40, or a pattern for the name of a kernel");
}

}  // namespace

Result<Exclusion> Exclusion::read(const std::string& text) {
  Exclusion exclusion;
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (entry.empty()) continue;
    if (entry.front() < '0' || entry.front() > '9') {
      exclusion.patterns_.push_back(entry);
      continue;
    }
    const auto numbers = read_numbers(entry);
    if (!numbers) return tl::unexpected(numbers.error());
    exclusion.numbers_.push_back(*numbers);
  }
  return exclusion;
}

bool Exclusion::holds(const std::string& kernel, uint64_t number) {
  const auto has_number = [number](const std::pair<uint64_t, uint64_t>& range) {
    return range.first <= number && number <= range.second;
  };
  if (std::ranges::any_of(numbers_, has_number)) return true;
  if (patterns_.empty()) return false;
  const auto [known, is_new] = known_.try_emplace(kernel, false);
  if (is_new) known->second = names(kernel);
  return known->second;
}

bool Exclusion::names(const std::string& kernel) const {
  const std::string written = short_name(kernel);
  return std::ranges::any_of(patterns_, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), kernel.c_str(), 0) == 0 ||
           fnmatch(pattern.c_str(), written.c_str(), 0) == 0;
  });
}

}  // namespace sluice::runtime
