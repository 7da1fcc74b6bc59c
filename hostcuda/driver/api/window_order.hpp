// Functions in the order of several streams: ends_by_itself(), make_line(), run_together() and
// is_busy() of block_abi.h.
#pragma once

#include <cstdint>

namespace sluice::hostcuda {

int ends_by_itself(void* stream);
void* make_line();
int run_together(void* line, void* const* streams, uint64_t count, void (*function)(void* data),
                 void* data, void** promises);
int is_busy(void* stream);

}  // namespace sluice::hostcuda
