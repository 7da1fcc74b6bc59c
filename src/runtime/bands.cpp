// How a window's launches are cut into bands.
#include <algorithm>
#include <optional>

#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "runtime/band_parts.hpp"
#include "runtime/order.hpp"

namespace sluice::runtime {
namespace {

using megakernel::LaunchSlot;
using megakernel::SlotDependence;
using megakernel::task_count;
using megakernel::Window;

// A slave that far behind leaves nothing to be shared with the end of its master's sweep.
constexpr double longest_lag = 0.75;
// By how much of its length a part may move over a band; parts are balanced over the whole band,
// and what one has more at the band's end it has less at its beginning.
constexpr double longest_drift = 0.5;
// By what factor more bands are worth it that workers do not share.
constexpr size_t worth_of_parts = 2;

// BandFinder grows one band at a time.
class BandFinder {
 public:
  BandFinder(const Window& window, std::span<const std::span<const TouchedBuffer>> touched,
             const OrderLimits& limits, uint32_t parts, TaskNeedsCache& needs)
      : window_(window),
        touched_(touched),
        limits_(limits),
        parts_(parts),
        needs_(needs),
        lags_(window_.slots.size()) {}

  std::vector<Band> find() {
    std::vector<Band> bands;
    const auto slots = static_cast<uint32_t>(window_.slots.size());
    for (uint32_t first = 0; first < slots;) {
      band_ = {.first = first, .parts = parts_, .is_backward = parts_ > 1 && bands.size() % 2 == 1};
      begin();
      band_.end = first + 1;
      while (band_.end < slots && take(band_.end))
        ++band_.end;
      const uint32_t launches = band_.end - first;
      band_.slack = parts_ > 1 ? 0 : static_cast<uint32_t>(divide_up(limits_.workers, launches));
      bands.push_back(band_);
      first = band_.end;
    }
    return bands;
  }

 private:
  void begin() {
    longest_ = 0;
    bytes_ = 0;
    buffers_.clear();
    add_buffers(band_.first);
    lags_[band_.first] = 0;
    if (parts_ == 1) return;
    starts_.emplace(window_, band_.first, band_.is_backward, even_bases(parts_), needs_);
    starts_->add(band_.first);
  }

  bool take(uint32_t slot) {
    if (slot - band_.first >= limits_.most_launches) return false;
    const double own_lag = lag_of(slot);
    const double lag = std::max(longest_, own_lag);
    if (lag * parts_ > longest_lag) return false;
    const size_t known = buffers_.size();
    const uint64_t before = bytes_;
    add_buffers(slot);
    // Each part has sweeps of its own between which the band's bytes lie.
    if (lag * parts_ * static_cast<double>(bytes_) > static_cast<double>(limits_.cache_bytes) ||
        !takes_parts(slot)) {
      buffers_.resize(known);
      bytes_ = before;
      return false;
    }
    lags_[slot] = own_lag;
    longest_ = lag;
    return true;
  }

  bool takes_parts(uint32_t slot) {
    if (parts_ == 1) return true;
    starts_->add(slot);
    if (starts_->longest_drift(slot) * parts_ <= longest_drift) return true;
    starts_->remove_last();
    return false;
  }

  // The lag behind the band's first sweep: behind each master of the band by what the edges ask,
  // and, where workers share a sweep, one task of slack.
  double lag_of(uint32_t slot) {
    const LaunchSlot& slave = window_.slots[slot];
    double lag = 0;
    for (const SlotDependence& dependence : dependences_of(window_, slave)) {
      if (dependence.master_slot < band_.first) continue;
      const double slack = parts_ > 1 ? 0 : 1.0 / task_count(window_.slots[dependence.master_slot]);
      lag =
          std::max(lag, lags_[dependence.master_slot] + slack +
                            needs_of(window_, dependence, slave, band_.is_backward, needs_).lag());
    }
    return lag;
  }

  void add_buffers(uint32_t slot) {
    for (const TouchedBuffer& touched : touched_[slot]) {
      if (std::find(buffers_.begin(), buffers_.end(), touched.buffer) != buffers_.end()) continue;
      buffers_.push_back(touched.buffer);
      bytes_ += touched.bytes;
    }
  }

  const Window& window_;
  std::span<const std::span<const TouchedBuffer>> touched_;
  const OrderLimits& limits_;
  const uint32_t parts_;
  TaskNeedsCache& needs_;
  std::vector<double> lags_;  // by slot, behind the first sweep of its band
  Band band_;
  std::optional<PartStarts> starts_;
  double longest_ = 0;
  uint64_t bytes_ = 0;
  std::vector<dro::BufferId> buffers_;
};

}  // namespace

std::vector<Band> find_bands(const Window& window,
                             std::span<const std::span<const TouchedBuffer>> touched,
                             const OrderLimits& limits, TaskNeedsCache& needs) {
  SLUICE_ASSERT(touched.size() == window.slots.size());
  std::vector<Band> shared = BandFinder(window, touched, limits, 1, needs).find();
  // Bands of one launch each are shared out task by task, whatever the tasks take.
  if (!limits.on_host || limits.workers == 1 || shared.size() == window.slots.size()) return shared;
  std::vector<Band> parted = BandFinder(window, touched, limits, limits.workers, needs).find();
  const bool pays =
      parted.size() < window.slots.size() && parted.size() <= worth_of_parts * shared.size();
  return pays ? parted : shared;
}

}  // namespace sluice::runtime
