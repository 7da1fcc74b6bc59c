// Block shapes, for the kernels in CUDA and OpenCL and for those who launch them: macros, since
// OpenCL C knows no constexpr.
#ifndef SLUICE_BENCH_CPU_DEVICE_SHAPES_HPP
#define SLUICE_BENCH_CPU_DEVICE_SHAPES_HPP

#define stencil_block_x 32
#define stencil_block_y 8
#define gemm_tile 16
#define nbody_block 256
#define nbody_softening 0.01f
#define reduce_block 256
#define reduce_blocks 1024
#define transpose_tile 32
#define transpose_rows 8

#endif
