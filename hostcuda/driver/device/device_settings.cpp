#include "hostcuda/driver/device/device_settings.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "base/log.hpp"

namespace sluice::hostcuda {
namespace {

// take_number() takes the digits at the beginning off `text`.
template <class T>
std::optional<T> take_number(std::string_view& text) {
  T value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool has_digits = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!has_digits || read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return value;
}

// setting() is a variable's value as `read` reads it.
template <class T>
std::optional<T> setting(const char* variable, std::optional<T> (*read)(std::string_view),
                         const char* wanted) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::optional<T> value = read(text);
  if (!value) log::warning("{}: '{}' is no {} (now: as if it were unset)", variable, text, wanted);
  return value;
}

}  // namespace

std::optional<ComputeCapability> read_compute(std::string_view text) {
  const auto major = take_number<int>(text);
  if (!major || *major < 1 || *major > 99 || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  const auto minor = take_number<int>(text);
  if (!minor || *minor > 9 || !text.empty()) return std::nullopt;
  return ComputeCapability{*major, *minor};
}

std::optional<size_t> read_bytes(std::string_view text) {
  const auto number = take_number<size_t>(text);
  if (!number || *number == 0) return std::nullopt;
  constexpr std::string_view units = "KMGT";
  const size_t unit = text.empty() ? std::string_view::npos : units.find(text.front());
  const unsigned shift = unit == std::string_view::npos ? 0 : 10 * static_cast<unsigned>(unit + 1);
  if (shift != 0) text.remove_prefix(1);
  const bool ends = text.empty() || text == "B" || (shift != 0 && text == "iB");
  if (!ends || *number > SIZE_MAX >> shift) return std::nullopt;
  return *number << shift;
}

std::optional<ComputeCapability> compute_setting() {
  return setting("SLUICE_CPU_COMPUTE", read_compute, "compute capability such as 8.9");
}

std::optional<size_t> memory_setting() {
  return setting("SLUICE_CPU_MEMORY", read_bytes, "number of bytes such as 512M or 1G");
}

}  // namespace sluice::hostcuda
