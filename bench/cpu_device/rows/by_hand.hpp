// The kernels' computations as one would write them for this machine: twice, as they are (`exact`)
// and with -ffast-math (`fast`).
#pragma once

namespace sluice::bench {

// A function gets what it reads, what it writes, and a count, as the kernel of its name.
using ByHand = void (*)(const float* in, float* out, int count);

namespace exact {
ByHand by_hand(const char* kernel);
}
namespace fast {
ByHand by_hand(const char* kernel);
}

}  // namespace sluice::bench
