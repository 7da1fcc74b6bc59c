// Events that somebody else reaches: promise_event() and reach_event() of block_abi.h.
#pragma once

namespace sluice::hostcuda {

int promise_event(void* event, void* stream, void** promise);
void reach_event(void* promise);

}  // namespace sluice::hostcuda
