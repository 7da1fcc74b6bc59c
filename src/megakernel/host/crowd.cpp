#include "megakernel/host/crowd.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include <fcntl.h>
#include <unistd.h>

#include "base/keep_errno.hpp"
#include "megakernel/block_cost.hpp"

namespace sluice::megakernel {

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
  const KeepErrno keep;
  const int file = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 128> text{};
  const ssize_t count = read(file, text.data(), text.size());
  close(file);
  if (count <= 0) return std::nullopt;
  return parse_share({text.data(), static_cast<size_t>(count)});
}

bool has_short_launches(const Window& window) {
  constexpr uint64_t short_nanoseconds = 500'000;
  const auto is_short = [](const LaunchSlot& slot) {
    const uint64_t block = slot.cost == nullptr ? 0 : slot.cost->nanoseconds();
    return block != 0 && block * slot.block_count < short_nanoseconds;
  };
  return !window.lane_ends.empty() && std::ranges::all_of(window.slots, is_short);
}

}  // namespace sluice::megakernel
