// What nvcc brings into each CUDA source and clang does not: included before all else by cuda_12.py.
#pragma once

// Functions of float beside C's of double, and what CUDA's headers include.
#include <math.h>
#include <string.h>
#include <time.h>

#ifdef __CUDACC__

#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4

#include <type_traits>

// min and max of numbers on the host.
template <class A, class B>
__host__ inline std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>> min(
    A a, B b) {
  using Number = std::common_type_t<A, B>;
  return static_cast<Number>(b) < static_cast<Number>(a) ? static_cast<Number>(b) : static_cast<Number>(a);
}
template <class A, class B>
__host__ inline std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>> max(
    A a, B b) {
  using Number = std::common_type_t<A, B>;
  return static_cast<Number>(a) < static_cast<Number>(b) ? static_cast<Number>(b) : static_cast<Number>(a);
}

// Loads and stores with hints to the caches. Clang has the header's other functions itself, and keeps it out.
#undef __SM_32_INTRINSICS_H__
#undef __SM_32_INTRINSICS_HPP__
#define __ldg ldg_of_the_toolkit
#define __funnelshift_l funnelshift_l_of_the_toolkit
#define __funnelshift_r funnelshift_r_of_the_toolkit
#define __funnelshift_lc funnelshift_lc_of_the_toolkit
#define __funnelshift_rc funnelshift_rc_of_the_toolkit
#include <sm_32_intrinsics.h>
#undef __ldg
#undef __funnelshift_l
#undef __funnelshift_r
#undef __funnelshift_lc
#undef __funnelshift_rc

#endif
