#include "megakernel/host/parking.hpp"

namespace sluice::megakernel {

void Parking::wake() {
  // A sleeper is between its check and its wait only while it holds the lock.
  {
    const std::lock_guard lock(mutex_);
  }
  changed_.notify_all();
}

}  // namespace sluice::megakernel
