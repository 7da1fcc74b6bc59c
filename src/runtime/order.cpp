#include "runtime/order.hpp"

#include <algorithm>

namespace sluice::runtime {

void order_tasks(megakernel::Window& window) {
  window.tasks.reserve(window.flag_count);
  for (uint32_t slot = 0; slot < window.slots.size(); ++slot) {
    const megakernel::LaunchSlot& launch = window.slots[slot];
    for (uint64_t block = 0; block < launch.block_count; block += launch.blocks_per_task) {
      const auto first = static_cast<uint32_t>(block);
      window.tasks.push_back(
          {slot, first, std::min(launch.blocks_per_task, launch.block_count - first)});
    }
  }
}

}  // namespace sluice::runtime
