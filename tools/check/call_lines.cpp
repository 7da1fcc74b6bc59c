#include "tools/check/call_lines.hpp"

#include <string_view>

#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/Symbolize/Symbolize.h>
#include <llvm/Object/ObjectFile.h>

namespace sluice::tools {
namespace {

using llvm::symbolize::LLVMSymbolizer;

LLVMSymbolizer::Options options() {
  LLVMSymbolizer::Options options;
  options.Demangle = false;
  return options;
}

// The headers of the C++ library, the toolkit's, and the code that nvcc makes of a launch.
bool is_others(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  for (const std::string_view header : {"cuda_runtime.h", "cuda_runtime_api.h", "host_runtime.h"}) {
    if (name == header) return true;
  }
  for (const std::string_view folder : {"/include/c++/", "/include/cccl/", "/include/thrust/"}) {
    if (file.find(folder) != std::string_view::npos) return true;
  }
  return file.starts_with("/usr/include/") || name.ends_with(".stub.c");
}

// The system's libraries, which may have debug information too.
bool is_system(std::string_view object) {
  for (const std::string_view folder : {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"}) {
    if (object.starts_with(folder)) return true;
  }
  return false;
}

bool is_own(const llvm::DILineInfo& line, const std::string& kernel) {
  if (line.Line == 0 || line.FileName == llvm::DILineInfo::BadString) return false;
  if (line.FunctionName.find("__device_stub__") != std::string::npos) return false;
  return (kernel.empty() || line.FunctionName != kernel) && !is_others(line.FileName);
}

}  // namespace

struct CallLines::Symbolizer {
  LLVMSymbolizer llvm{options()};
};

CallLines::CallLines() : symbolizer_(std::make_unique<Symbolizer>()) {}
CallLines::~CallLines() = default;

std::optional<SourceLine> CallLines::line_of(const runtime::CallPlaces& call) {
  for (const runtime::CallPlace& frame : call.frames) {
    if (frame.file.ends_with(".py"))
      return SourceLine{frame.file, static_cast<uint32_t>(frame.address)};
    if (is_system(frame.file)) continue;
    auto found = symbolizer_->llvm.symbolizeInlinedCode(
        frame.file, {frame.address, llvm::object::SectionedAddress::UndefSection});
    if (!found) {
      llvm::consumeError(found.takeError());
      continue;
    }
    for (uint32_t i = 0; i < found->getNumberOfFrames(); ++i) {
      const llvm::DILineInfo& line = found->getFrame(i);
      if (is_own(line, call.kernel)) return SourceLine{line.FileName, line.Line};
    }
  }
  return std::nullopt;
}

}  // namespace sluice::tools
