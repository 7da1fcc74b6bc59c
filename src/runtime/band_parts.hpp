// Which stretch of each sweep of a band is which worker's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "megakernel/layout.hpp"
#include "runtime/order.hpp"
#include "runtime/task_needs.hpp"

namespace sluice::runtime {

// dependences_of() are those of the slot on earlier ones of the window.
std::span<const megakernel::SlotDependence> dependences_of(const megakernel::Window& window,
                                                           const megakernel::LaunchSlot& slot);

// needs_of() is what tasks of `slave` need of one of its masters, by position in the band's sweeps.
SweptNeeds needs_of(const megakernel::Window& window, const megakernel::SlotDependence& dependence,
                    const megakernel::LaunchSlot& slave, bool is_backward, TaskNeedsCache& needs);

// PartStarts are the positions at which each part of each sweep begins. They grow from launch to
// launch as the edges ask: from its start on, a sweep needs nothing that its masters have before
// theirs.
class PartStarts {
 public:
  // Part p of a sweep whose masters are outside the band begins at the fraction bases[p] of it;
  // bases[0] is 0.
  PartStarts(const megakernel::Window& window, uint32_t first_slot, bool is_backward,
             std::vector<double> bases, TaskNeedsCache& needs);

  // add() finds the starts of the slot behind those that were added, from first_slot on.
  void add(uint32_t slot);
  // remove_last() forgets what add() found last.
  void remove_last();

  // starts() has one for each part, of a slot that was added.
  std::span<const uint32_t> starts(uint32_t slot) const {
    return std::span(starts_).subspan((slot - first_) * bases_.size(), bases_.size());
  }
  // drift() is by how much of its sweep a part of the slot begins later than its base says.
  double drift(uint32_t slot, size_t part) const;
  // longest_drift() is the largest of the slot's parts.
  double longest_drift(uint32_t slot) const;

 private:
  const megakernel::Window& window_;
  uint32_t first_;
  bool is_backward_;
  std::vector<double> bases_;
  TaskNeedsCache& needs_;
  std::vector<uint32_t> starts_;
};

// even_bases() are so many equal parts.
std::vector<double> even_bases(uint32_t parts);

// share_out() finds the starts of a band's parts, such that over all of its sweeps each worker's
// part is about as long as the worker is fast. `speeds` has one entry for each worker, of which
// only the ratios count.
PartStarts share_out(const megakernel::Window& window, const Band& band,
                     std::span<const double> speeds, TaskNeedsCache& needs);

}  // namespace sluice::runtime
