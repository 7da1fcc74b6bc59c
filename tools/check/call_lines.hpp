// Lines of the host's source, by the debug information of programs and libraries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/calls/call_place.hpp"

namespace sluice::tools {

struct SourceLine {
  std::string file;
  uint32_t line = 0;
};

// CallLines keeps what it has read of each file. Not thread-safe.
class CallLines {
 public:
  CallLines();
  ~CallLines();

  // line_of() is the line of the innermost function of the program's own: neither of the system's
  // libraries, nor what nvcc makes of a launch, nor what headers of the system and of CUDA have.
  // Nothing where no file has lines.
  std::optional<SourceLine> line_of(const runtime::CallPlaces& call);

 private:
  struct Symbolizer;
  const std::unique_ptr<Symbolizer> symbolizer_;
};

}  // namespace sluice::tools
