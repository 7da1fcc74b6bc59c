#include "runtime/faults/call_site.hpp"

#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/demangle.hpp"
#include "runtime/faults/symbol_table.hpp"

namespace sluice::runtime {
namespace {

// Frame is one return address of the program's own code.
struct Frame {
  std::string file;
  std::string function;  // mangled; empty where it is not known
  uint64_t offset = 0;   // of the call in the file's addresses
};

bool is_cuda_library(std::string_view file) {
  for (const std::string_view name : {"libsluice", "libcudart", "libcuda."}) {
    if (file.starts_with(name)) return true;
  }
  return false;
}

// is_launch_stub() is true of the host functions that nvcc makes of `<<<>>>`: one of the kernel's
// own name, and a static one below it.
bool is_launch_stub(const Frame& frame, const std::string& kernel) {
  return (!kernel.empty() && frame.function == kernel) ||
         frame.function.find("__device_stub__") != std::string::npos;
}

std::vector<Frame> frames_of(const CallSite& site) {
  std::vector<Frame> frames;
  for (size_t i = 0; i < site.depth; ++i) {
    // A return address may already belong to the next function.
    char* const call = static_cast<char*>(site.callers[i]) - 1;
    Dl_info info = {};
    if (dladdr(call, &info) == 0 || info.dli_fname == nullptr) continue;
    const std::string path = info.dli_fname;
    Frame frame{path.substr(path.rfind('/') + 1), {}, 0};
    if (is_cuda_library(frame.file)) continue;
    const SymbolTable symbols(path);
    frame.offset = symbols.is_relocated()
                       ? static_cast<uint64_t>(call - static_cast<char*>(info.dli_fbase))
                       : reinterpret_cast<uint64_t>(call);
    frame.function = symbols.function_at(frame.offset);
    if (frame.function.empty() && info.dli_sname != nullptr) frame.function = info.dli_sname;
    frames.push_back(std::move(frame));
    if (frames.size() == 4) break;  // two stubs and their caller are the most that is asked for
  }
  return frames;
}

}  // namespace

std::string site_text(const CallSite& site, const std::string& kernel) {
  const std::vector<Frame> frames = frames_of(site);
  size_t first = 0;
  for (size_t i = 0; i < frames.size() && i < 3; ++i) {
    if (is_launch_stub(frames[i], kernel)) first = i + 1;
  }
  if (first >= frames.size()) return {};
  const Frame& frame = frames[first];
  if (frame.function.empty()) return fmt::format("{}+0x{:x}", frame.file, frame.offset);
  return fmt::format("{} in {}", short_name(frame.function), frame.file);
}

}  // namespace sluice::runtime
