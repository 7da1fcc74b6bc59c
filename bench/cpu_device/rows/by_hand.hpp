// The kernels' computations as one would write them: as they are (`exact`) and with -ffast-math
// (`fast`), for this machine and for x86-64-v3, which has AVX2.
#pragma once

namespace sluice::bench {

// A function gets what it reads, what it writes, and a count, as the kernel of its name.
using ByHand = void (*)(const float* in, float* out, int count);

namespace exact_native {
ByHand by_hand(const char* kernel);
}
namespace fast_native {
ByHand by_hand(const char* kernel);
}
namespace exact_v3 {
ByHand by_hand(const char* kernel);
}
namespace fast_v3 {
ByHand by_hand(const char* kernel);
}

}  // namespace sluice::bench
