// The kernel alone, compiled to the PTX that stencil_driver carries.
#include "stencil_kernel.cuh"
