#include "megakernel/host/crowd.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/keep_errno.hpp"
#include "megakernel/block_cost.hpp"

namespace sluice::megakernel {
namespace {

// FirstBytes is the beginning of a short file of the kernel's; empty where it can't be read.
class FirstBytes {
 public:
  explicit FirstBytes(const char* path) {
    const KeepErrno keep;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    count_ = std::max<ssize_t>(0, read(file, bytes_.data(), bytes_.size()));
    close(file);
  }
  std::string_view text() const { return {bytes_.data(), static_cast<size_t>(count_)}; }

 private:
  std::array<char, 256> bytes_;
  ssize_t count_ = 0;
};

uint64_t block_nanoseconds(const LaunchSlot& slot) {
  return slot.cost == nullptr ? 0 : slot.cost->nanoseconds();
}

}  // namespace

std::optional<ProcessorShare> parse_share(std::string_view text) {
  const char* const end = text.data() + text.size();
  uint64_t ran = 0;
  const auto [space, first] = std::from_chars(text.data(), end, ran);
  if (first != std::errc() || space == end || *space != ' ') return std::nullopt;
  uint64_t waited = 0;
  const auto [rest, second] = std::from_chars(space + 1, end, waited);
  if (second != std::errc() || rest == end || *rest != ' ') return std::nullopt;
  return ProcessorShare{std::chrono::nanoseconds(ran), std::chrono::nanoseconds(waited)};
}

std::optional<ProcessorShare> share_of_main_thread() {
  return parse_share(FirstBytes("/proc/self/schedstat").text());
}

std::optional<uint32_t> parse_runnable(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const size_t space = text.rfind(' ', slash);
  if (space == std::string_view::npos) return std::nullopt;
  uint32_t runnable = 0;
  const auto [rest, error] =
      std::from_chars(text.data() + space + 1, text.data() + slash, runnable);
  if (error != std::errc() || rest != text.data() + slash) return std::nullopt;
  return runnable;
}

// The name before the state is in brackets, and may have any characters.
std::optional<bool> parse_runs(std::string_view text) {
  const size_t bracket = text.rfind(')');
  if (bracket == std::string_view::npos || bracket + 2 >= text.size()) return std::nullopt;
  return text[bracket + 2] == 'R';
}

bool others_want_processors(uint32_t own) {
  const KeepErrno keep;
  const std::optional<uint32_t> runnable = parse_runnable(FirstBytes("/proc/loadavg").text());
  if (!runnable) return false;
  const bool first_runs = parse_runs(FirstBytes("/proc/self/stat").text()).value_or(true);
  const auto processors = static_cast<uint32_t>(std::max(1, get_nprocs()));
  return *runnable >= processors + own + (first_runs ? 1 : 0);
}

bool is_measured(const Window& window) {
  return std::ranges::all_of(window.slots,
                             [](const LaunchSlot& slot) { return block_nanoseconds(slot) != 0; });
}

bool has_short_launches(const Window& window) {
  constexpr uint64_t short_nanoseconds = 500'000;
  const auto is_short = [](const LaunchSlot& slot) {
    const uint64_t block = block_nanoseconds(slot);
    return block != 0 && block * slot.block_count < short_nanoseconds;
  };
  return !window.lane_ends.empty() && std::ranges::all_of(window.slots, is_short);
}

}  // namespace sluice::megakernel
