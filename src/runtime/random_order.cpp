// Random topological orders: whatever order the tasks have, the answers must be the same.
#include <algorithm>
#include <random>
#include <vector>

#include "runtime/order.hpp"

namespace sluice::runtime {

void order_randomly(megakernel::Window& window, uint32_t seed) {
  std::vector<megakernel::Task> all;  // by flag
  for (uint32_t slot = 0; slot < window.slots.size(); ++slot) {
    const megakernel::LaunchSlot& launch = window.slots[slot];
    for (uint32_t block = 0; block < launch.block_count; block += launch.blocks_per_task) {
      all.push_back({slot, block, std::min(launch.blocks_per_task, launch.block_count - block)});
    }
  }
  std::vector<std::vector<uint32_t>> slaves(all.size());
  std::vector<uint32_t> masters_left(all.size(), 0);
  for (uint32_t flag = 0; flag < all.size(); ++flag) {
    const megakernel::Task& task = all[flag];
    const megakernel::LaunchSlot& slot = window.slots[task.slot];
    for (uint32_t i = 0; i < slot.dependence_count; ++i) {
      const megakernel::SlotDependence& dependence = window.dependences[slot.first_dependence + i];
      const megakernel::LaunchSlot& master = window.slots[dependence.master_slot];
      dro::for_each_master_range(*dependence.edges, task.first_block, task.block_count,
                                 [&](uint32_t first, uint32_t last) {
                                   for (uint32_t t = first / master.blocks_per_task;
                                        t <= last / master.blocks_per_task; ++t) {
                                     slaves[master.first_flag + t].push_back(flag);
                                     ++masters_left[flag];
                                   }
                                 });
    }
  }
  std::mt19937 random(seed);
  std::vector<uint32_t> ready;
  for (uint32_t flag = 0; flag < all.size(); ++flag) {
    if (masters_left[flag] == 0) ready.push_back(flag);
  }
  window.tasks.clear();
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const uint32_t flag = ready.back();
    ready.pop_back();
    window.tasks.push_back(all[flag]);
    for (const uint32_t slave : slaves[flag]) {
      if (--masters_left[slave] == 0) ready.push_back(slave);
    }
  }
}

}  // namespace sluice::runtime
