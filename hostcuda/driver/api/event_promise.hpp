// What somebody else reaches: promise_event() and reach_event() of block_abi.h.
#pragma once

#include <memory>

#include "hostcuda/driver/driver.hpp"

namespace sluice::hostcuda {

// EventPromise is a record of an event that its device has not reached; without an event it is the
// end of what a stream has in a function of several streams.
struct EventPromise {
  Driver& driver;
  std::shared_ptr<Event> event;
  Ticket ticket;
};

int promise_event(void* event, void* stream, void** promise);
void reach_event(void* promise);

}  // namespace sluice::hostcuda
