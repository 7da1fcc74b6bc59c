// Would a program run, and what would Sluice follow of it?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/info/program.hpp"

namespace sluice::tools {

struct Verdict {
  bool runs = false;
  std::string text;  // for people, with what to do where it does not
};

// on_gpu() is the verdict for NVIDIA's driver on a GPU of that architecture (90 for sm_90), or of
// any; on_cpu_device() for the CPU device. Both take files for what may_be_started() found no
// fault with.
Verdict on_gpu(const Program& program, std::optional<uint32_t> architecture);
Verdict on_cpu_device(const Program& program);

// may_be_started() is the verdict on a file before any device comes into it.
Verdict may_be_started(const Program& program);

}  // namespace sluice::tools
