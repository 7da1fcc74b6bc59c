#include "runtime/band_parts.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

namespace sluice::runtime {

using megakernel::LaunchSlot;
using megakernel::SlotDependence;
using megakernel::task_count;
using megakernel::Window;

namespace {

// The first position from which on nothing is needed of the master's positions before `bound`.
uint32_t first_beyond(const SweptNeeds& needs, uint32_t bound) {
  const auto positions = std::views::iota(0U, needs.tasks());
  const auto found = std::ranges::partition_point(
      positions, [&](uint32_t position) { return needs.from(position) < bound; });
  return static_cast<uint32_t>(found - positions.begin());
}

}  // namespace

std::span<const SlotDependence> dependences_of(const Window& window, const LaunchSlot& slot) {
  return std::span(window.dependences).subspan(slot.first_dependence, slot.dependence_count);
}

SweptNeeds needs_of(const Window& window, const SlotDependence& dependence, const LaunchSlot& slave,
                    bool is_backward, TaskNeedsCache& needs) {
  return {needs.find(*dependence.edges, window.slots[dependence.master_slot].blocks_per_task,
                     slave.blocks_per_task),
          is_backward};
}

PartStarts::PartStarts(const Window& window, uint32_t first_slot, bool is_backward,
                       std::vector<double> bases, TaskNeedsCache& needs)
    : window_(window),
      first_(first_slot),
      is_backward_(is_backward),
      bases_(std::move(bases)),
      needs_(needs) {}

void PartStarts::add(uint32_t slot) {
  const LaunchSlot& launch = window_.slots[slot];
  const size_t begin = starts_.size();
  for (const double base : bases_)
    starts_.push_back(static_cast<uint32_t>(base * task_count(launch)));
  if (bases_.size() == 1) return;
  for (const SlotDependence& dependence : dependences_of(window_, launch)) {
    if (dependence.master_slot < first_) continue;
    const SweptNeeds needed = needs_of(window_, dependence, launch, is_backward_, needs_);
    const std::span<const uint32_t> masters = starts(dependence.master_slot);
    for (size_t part = 1; part < bases_.size(); ++part) {
      uint32_t& start = starts_[begin + part];
      start = std::max(start, first_beyond(needed, masters[part]));
    }
  }
}

void PartStarts::remove_last() {
  starts_.resize(starts_.size() - bases_.size());
}

double PartStarts::drift(uint32_t slot, size_t part) const {
  return starts(slot)[part] / static_cast<double>(task_count(window_.slots[slot])) - bases_[part];
}

double PartStarts::longest_drift(uint32_t slot) const {
  double longest = 0;
  for (size_t part = 1; part < bases_.size(); ++part)
    longest = std::max(longest, drift(slot, part));
  return longest;
}

namespace {

// The part of a backward band that comes first is the last worker's.
std::vector<double> bases_of(std::span<const double> speeds, bool is_backward) {
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<double> bases;
  double before = 0;
  for (size_t part = 0; part < speeds.size(); ++part) {
    bases.push_back(before / all);
    before += speeds[is_backward ? speeds.size() - 1 - part : part];
  }
  return bases;
}

// By how much of a sweep each part begins later than its base, the mean over the band.
std::vector<double> mean_drifts(const Window& window, const Band& band,
                                const std::vector<double>& bases, TaskNeedsCache& needs) {
  PartStarts starts(window, band.first, band.is_backward, bases, needs);
  std::vector<double> drifts(band.parts, 0);
  for (uint32_t slot = band.first; slot < band.end; ++slot) {
    starts.add(slot);
    for (uint32_t part = 1; part < band.parts; ++part)
      drifts[part] += starts.drift(slot, part) / (band.end - band.first);
  }
  return drifts;
}

}  // namespace

std::vector<double> even_bases(uint32_t parts) {
  return bases_of(std::vector<double>(parts, 1), false);
}

PartStarts share_out(const Window& window, const Band& band, std::span<const double> speeds,
                     TaskNeedsCache& needs) {
  std::vector<double> bases =
      band.parts == speeds.size() ? bases_of(speeds, band.is_backward) : even_bases(band.parts);
  if (band.parts > 1) {
    const std::vector<double> drifts = mean_drifts(window, band, bases, needs);
    for (uint32_t part = 1; part < band.parts; ++part)
      bases[part] = std::max(0.0, bases[part] - drifts[part]);
  }
  PartStarts shared(window, band.first, band.is_backward, std::move(bases), needs);
  for (uint32_t slot = band.first; slot < band.end; ++slot)
    shared.add(slot);
  return shared;
}

}  // namespace sluice::runtime
