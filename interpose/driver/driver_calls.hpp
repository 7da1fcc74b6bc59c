// The real driver's functions that the shim itself calls.
#pragma once

#include <cuda.h>

namespace sluice::interpose {

// DriverCalls holds a typed pointer for each function of wrapped.def and a few more; one that the
// driver lacks is null.
struct DriverCalls {
#define SLUICE_WRAPPED(symbol) decltype(&::symbol) symbol = nullptr;
#include "interpose/symbols/wrapped.def"
  decltype(&::cuGetExportTable) cuGetExportTable = nullptr;
  decltype(&::cuDeviceGetCount) cuDeviceGetCount = nullptr;
  decltype(&::cuDeviceGetAttribute) cuDeviceGetAttribute = nullptr;
  decltype(&::cuCtxGetCurrent) cuCtxGetCurrent = nullptr;
  decltype(&::cuCtxGetDevice) cuCtxGetDevice = nullptr;
  decltype(&::cuCtxSetCurrent) cuCtxSetCurrent = nullptr;
  decltype(&::cuStreamGetCtx) cuStreamGetCtx = nullptr;
  decltype(&::cuGetErrorName) cuGetErrorName = nullptr;
  decltype(&::cuFuncGetAttribute) cuFuncGetAttribute = nullptr;
  decltype(&::cuKernelGetAttribute) cuKernelGetAttribute = nullptr;
  decltype(&::cuDevicePrimaryCtxGetState) cuDevicePrimaryCtxGetState = nullptr;
  decltype(&::cuPointerGetAttribute) cuPointerGetAttribute = nullptr;
};

}  // namespace sluice::interpose
