// Launches of the kernel table on the CPU device, under the footprint check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda.h>

#include "analysis/footprint.hpp"
#include "dro/records/check.hpp"
#include "kernel_case.hpp"

namespace sluice::footprints {

// DeviceMemory is what one launch's pointers lead to. It throws where the device refuses.
class DeviceMemory {
 public:
  struct Pointer {
    CUdeviceptr value = 0, begin = 0, end = 0;
  };
  // bind() allocates what the arguments need and returns the parameter block.
  std::vector<std::byte> bind(const analysis::KernelSignature& signature,
                              const std::vector<Argument>& arguments);
  // at() is the pointer with that value.
  const Pointer& at(CUdeviceptr value) const;
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

 private:
  CUdeviceptr place(const Field& field);
  std::vector<Pointer> pointers_;
  std::vector<CUdeviceptr> allocated_;
};

// CpuDevice is the CPU device's driver with one context, and the modules loaded so far.
class CpuDevice {
 public:
  static CpuDevice& get();
  CUfunction function(const std::string& file, const std::string& kernel);

  // run_traced() runs every block of the launch and returns what the footprint check found.
  dro::CheckRecord run_traced(CUfunction function, const KernelCase& launch,
                              const analysis::KernelSignature& signature,
                              const analysis::Footprint& footprint);
  // run() launches as a program would, and waits.
  void run(CUfunction function, const KernelCase& launch,
           const analysis::KernelSignature& signature);

 private:
  CpuDevice();
};

}  // namespace sluice::footprints
