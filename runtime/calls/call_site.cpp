#include "runtime/calls/call_site.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "base/demangle.hpp"
#include "runtime/calls/call_place.hpp"
#include "runtime/calls/symbol_table.hpp"

namespace sluice::runtime {
namespace {

// Frame is one return address of the program's own code.
struct Frame {
  std::string file = {};  // its name alone
  std::string path = {};
  std::string function = {};  // mangled; empty where it is not known
  uint64_t offset = 0;        // of the call in the file's addresses
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

// path_of() is where the file of an object lies; dladdr() gives the program as it was called, which
// may be no path from here.
std::string path_of(const Dl_info& info, const link_map* object) {
  const bool is_program = object != nullptr && object->l_name[0] == '\0';
  std::error_code error;
  const auto path = is_program ? std::filesystem::read_symlink("/proc/self/exe", error)
                               : std::filesystem::absolute(info.dli_fname, error);
  return error ? info.dli_fname : path.string();
}

// Two stubs and their caller are the most whose names are asked for; of others around them lines.
constexpr size_t most_names = 4;
constexpr size_t most_frames = 10;

std::vector<Frame> frames_of(const CallSite& site) {
  std::vector<Frame> frames;
  for (size_t i = 0; i < site.depth && frames.size() < most_frames; ++i) {
    // A return address may already belong to the next function.
    char* const call = static_cast<char*>(site.callers[i]) - 1;
    Dl_info info = {};
    void* object = nullptr;
    if (dladdr1(call, &info, &object, RTLD_DL_LINKMAP) == 0 || info.dli_fname == nullptr) continue;
    const std::string name = info.dli_fname;
    Frame frame{.file = name.substr(name.rfind('/') + 1)};
    if (is_cuda_library(frame.file)) continue;
    frame.path = path_of(info, static_cast<const link_map*>(object));
    const SymbolTable symbols(frame.path, frames.size() < most_names);
    frame.offset = symbols.is_relocated()
                       ? static_cast<uint64_t>(call - static_cast<char*>(info.dli_fbase))
                       : reinterpret_cast<uint64_t>(call);
    frame.function = symbols.function_at(frame.offset);
    if (frame.function.empty() && info.dli_sname != nullptr) frame.function = info.dli_sname;
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace

std::string site_text(const CallSite& site, const std::string& kernel) {
  if (site.python != nullptr) {
    const PythonPlace& place = *site.python;
    const std::string name = std::filesystem::path(place.file).filename().string();
    const CallPlaces places{kernel, {{place.file, static_cast<uint64_t>(place.line)}}};
    return fmt::format("{} in {}", place.function, name) + mark_of(places);
  }
  const std::vector<Frame> frames = frames_of(site);
  size_t first = 0;
  for (size_t i = 0; i < frames.size() && i < most_names - 1; ++i) {
    if (is_launch_stub(frames[i], kernel)) first = i + 1;
  }
  if (first >= frames.size()) return {};
  CallPlaces places{kernel, {}};
  for (size_t i = first; i < frames.size(); ++i)
    places.frames.push_back({frames[i].path, frames[i].offset});
  const Frame& frame = frames[first];
  const std::string words = frame.function.empty()
                                ? fmt::format("{}+0x{:x}", frame.file, frame.offset)
                                : fmt::format("{} in {}", short_name(frame.function), frame.file);
  return words + mark_of(places);
}

}  // namespace sluice::runtime
